# tools: shop
# expect: missing-key line 5
names = []
for w in list_warehouses():
    names.append(w["town"])
print(names)
