# tools: shop
# expect: missing-key line 4
for order in list_orders(customer_id=1):
    if order["state"] == "open":
        print(order["order_id"])
