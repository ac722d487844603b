# tools: shop
# expect: wrong-operand line 4
order = get_order(order_id=1)
print(round(order["status"], 2))
