# tools: shop
# expect: no-attribute line 5
# says: order['status']
order = get_order(order_id=1)
print(order.status)
