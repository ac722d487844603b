# tools: shop
# expect: not-an-object line 5
# says: is a string
order = get_order(order_id=1)
print(order["status"]["name"])
