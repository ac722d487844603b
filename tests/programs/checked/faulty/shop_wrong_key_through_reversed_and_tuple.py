# tools: shop
# expect: missing-key line 3
print([w["name"] for w in reversed(tuple(list_warehouses()))])
