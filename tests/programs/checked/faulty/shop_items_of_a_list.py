# tools: shop
# expect: no-attribute line 3
for key, value in list_warehouses().items():
    print(key, value)
