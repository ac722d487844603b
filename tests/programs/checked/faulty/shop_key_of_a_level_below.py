# tools: shop
# expect: missing-key line 5
# says: is a key of 'shipping'
order = get_order(order_id=1)
print(order["carrier"])
