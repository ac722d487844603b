# tools: shop
# expect: none-value line 3
print(max(list_orders(customer_id=1), key=lambda o: o["delay_days"])["order_id"])
