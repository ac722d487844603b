# tools: shop
# expect: no-attribute line 3
print(list_warehouses().length)
