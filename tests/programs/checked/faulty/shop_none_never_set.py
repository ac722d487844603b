# tools: shop
# expect: none-value line 6
found = None
for w in list_warehouses():
    print(w["city"])
print(found["city"])
