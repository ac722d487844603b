# tools: shop
# expect: not-an-object line 5
# says: Take one item first
orders = list_orders(customer_id=1)
print(orders["status"])
