# tools: shop
# expect: wrong-unpacking line 3
for position, code, city in enumerate(list_warehouses()):
    print(position, code, city)
