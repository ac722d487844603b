# tools: shop
# expect: none
orders = list_orders(customer_id=1)
known = [o for o in orders if o["delay_days"] is not None]
print(max(known, key=lambda o: o["delay_days"])["order_id"], sum(o["delay_days"] for o in known) / len(known))
