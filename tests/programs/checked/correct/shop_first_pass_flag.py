# tools: shop
# expect: none
started = False
for w in list_warehouses():
    if not started:
        started = True
        previous = w
        continue
    print(w["capacity"] - previous["capacity"])
    previous = w
