# tools: shop
# expect: missing-key line 4
for position, order in enumerate(list_orders(customer_id=1), start=1):
    print(position, order["id"])
