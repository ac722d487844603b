# tools: shop
# expect: none-value line 5
# says: in place
orders = list_orders(customer_id=1)
for order in orders.sort(key=lambda o: o["order_id"]):
    print(order["status"])
