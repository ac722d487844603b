# tools: shop
# expect: no-output line 5
# says: print(total)
orders = list_orders(customer_id=1)
total = len(orders)
