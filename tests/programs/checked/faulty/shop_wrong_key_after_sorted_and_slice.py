# tools: shop
# expect: missing-key line 4
top = sorted(list_warehouses(), key=lambda w: w["capacity"], reverse=True)[:3]
print([w["location"] for w in top])
