# tools: shop
# expect: none
for o in list_orders(customer_id=1):
    if o["status"] == "returned":
        print("back")
    elif o["status"] == "open":
        print("waiting")
    else:
        print("other")
    if o["status"] == "Open" or o["status"] == "open":
        print(o["order_id"])
    print("done" if o["status"] == "delivered" else "sent" if o["status"] == "shipped" else "?")
