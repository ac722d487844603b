# tools: shop
# expect: bad-literal line 4
# says: order_id=17
print(get_order(order_id="17")["status"])
