# tools: shop
# expect: missing-key line 4
first = next(w for w in list_warehouses() if w["capacity"] > 10)
print(first["name"])
