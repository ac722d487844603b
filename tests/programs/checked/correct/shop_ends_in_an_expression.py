# tools: shop
# expect: none
get_order(order_id=1)["status"]
