# tools: shop
# expect: wrong-operand line 4
first, second = get_order(order_id=1), get_order(order_id=2)
print(second["placed_at"] - first["placed_at"])
