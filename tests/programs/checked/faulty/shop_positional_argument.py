# tools: shop
# expect: positional-argument line 4
# says: get_order(order_id=17)
print(get_order(17)["status"])
