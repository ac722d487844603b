# tools: shop
# expect: unknown-tool line 4
orders = list_orders(customer_id=3)
print(summarise(orders))
