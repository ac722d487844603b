# tools: shop
# expect: unknown-argument line 5
filters = {"customer_id": 3}
filters["state"] = "open"
print(len(list_orders(**filters)))
