# tools: shop
# expect: wrong-operand line 5
# says: float(
order = get_order(order_id=1)
print(f"{order['placed_at']:.2f}")
