# tools: shop
# expect: unhashable line 5
counts = {}
for w in list_warehouses():
    counts[w] = 1
print(counts)
