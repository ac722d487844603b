# tools: shop
# expect: not-a-list line 4
# says: by name
for code, city, capacity in list_warehouses():
    print(code, city)
