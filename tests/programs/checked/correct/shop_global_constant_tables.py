# tools: shop
# expect: none
NAMES = {"open": "waiting", "paid": "paid"}
ORDER = ["open", "paid", "shipped", "cancelled"]
for o in sorted(list_orders(customer_id=1), key=lambda o: ORDER.index(o["status"])):
    print(NAMES.get(o["status"], o["status"]), NAMES["open"], NAMES[o["status"]] if o["status"] in NAMES else "-")
