# tools: shop
# expect: none
winner = None
for w in list_warehouses():
    if w["city"] == "Berlin":
        winner = w
        break
print(winner["code"] if winner is not None else "none")
