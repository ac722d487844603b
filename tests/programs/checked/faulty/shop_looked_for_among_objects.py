# tools: shop
# expect: never-equal line 4
places = list_warehouses()
print("Berlin" in places)
