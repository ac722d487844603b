# tools: shop
# expect: bad-literal line 4
# says: an integer
print(get_order(order_id=True)["status"])
