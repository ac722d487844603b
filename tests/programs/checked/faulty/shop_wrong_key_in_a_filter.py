# tools: shop
# expect: missing-key line 3
print([w["city"] for w in list_warehouses() if w["size"] > 10])
