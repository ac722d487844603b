# tools: shop
# expect: not-a-list line 4
cities = {w["city"] for w in list_warehouses()}
print(cities[0])
