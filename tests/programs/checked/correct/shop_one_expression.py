# tools: shop
# expect: none
print((lambda orders: max(orders, key=lambda o: len(o["lines"]))["order_id"] if orders else None)(list_orders(customer_id=1)))
