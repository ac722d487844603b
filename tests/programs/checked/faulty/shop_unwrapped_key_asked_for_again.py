# tools: shop
# expect: not-an-object line 4
# says: leave out
for order in list_orders(customer_id=1)["orders"]:
    print(order["status"])
