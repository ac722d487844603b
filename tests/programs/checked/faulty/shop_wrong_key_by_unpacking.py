# tools: shop
# expect: missing-key line 4
first, *rest = list_warehouses()
print(first["name"], [r["city"] for r in rest])
