# tools: shop
# expect: missing-key line 3
print(any(w["size"] > 10 for w in list_warehouses()))
