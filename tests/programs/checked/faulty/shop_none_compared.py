# tools: shop
# expect: none-value line 5
# says: is not None
orders = list_orders(customer_id=1)
print([o["order_id"] for o in orders if o["delay_days"] > 2])
