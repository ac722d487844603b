# tools: shop
# expect: wrong-operand line 3
print(sum(get_order(order_id=1)["lines"]))
