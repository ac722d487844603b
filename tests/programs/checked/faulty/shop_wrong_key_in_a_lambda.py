# tools: shop
# expect: missing-key line 4
# says: capacity
print(max(list_warehouses(), key=lambda w: w["capactiy"])["city"])
