# tools: shop
# expect: syntax line 4
for w in list_warehouses():
    print(w["city"
print("end")
