# tools: shop
# expect: none
for w in list_warehouses():
    if w["capacity"] > 100:
        found = w
        break
else:
    found = {"city": "nowhere"}
print(found["city"])
