# tools: shop
# expect: tool-reassigned line 3
get_order = get_order(order_id=1)
print(get_order["status"])
