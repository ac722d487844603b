# tools: shop
# expect: none
names = sorted(w["city"] for w in list_warehouses())
pairs = sorted((w["capacity"], w["code"]) for w in list_warehouses())
best = max((w["capacity"], i) for i, w in enumerate(list_warehouses()))
print(names[0], pairs[-1][1].lower(), best[1] + 1, min(names), sorted({w["code"] for w in list_warehouses()})[0])
