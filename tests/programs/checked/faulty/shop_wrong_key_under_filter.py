# tools: shop
# expect: missing-key line 4
orders = list_orders(customer_id=1)
print(len(list(filter(lambda o: o["state"] == "open", orders))))
