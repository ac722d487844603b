# tools: shop
# expect: none
print(sorted(list_orders(customer_id=1), key=lambda o: (o["delay_days"] is None, o["delay_days"]))[0]["order_id"])
