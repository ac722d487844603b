# tools: shop
# expect: no-attribute line 4
orders = list_orders(customer_id=1)
print(orders.get("status"))
