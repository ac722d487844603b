# tools: shop
# expect: none
rows = [(w["code"], w["city"], w["capacity"]) for w in list_warehouses()]
codes, cities, rooms = zip(*rows)
(first, *_, last) = codes
print(codes[0], sum(rooms), cities[0].upper(), first, last)
for (code, city), room in [((r[0], r[1]), r[2]) for r in rows]:
    print(code, city, room + 1)
