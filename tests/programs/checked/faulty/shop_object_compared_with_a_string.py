# tools: shop
# expect: never-equal line 5
seen = ""
for w in list_warehouses():
    if w == "Berlin":
        seen = w["code"]
print(seen)
