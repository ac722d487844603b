# tools: shop
# expect: missing-key line 5
total = 0
for w in list_warehouses():
    total += w["size"]
print(total)
