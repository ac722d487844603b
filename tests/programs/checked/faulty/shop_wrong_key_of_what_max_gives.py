# tools: shop
# expect: missing-key line 5
# says: city
best = max(list_warehouses(), key=lambda w: w["capacity"])
print(best["town"])
