# tools: shop
# expect: none
for i, w in enumerate(list_warehouses()):
    if i > 0:
        print(last["city"], w["city"])
    last = w
