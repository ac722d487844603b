# tools: shop
# expect: wrong-operand line 5
# says: str(
order = get_order(order_id=1)
print("customer " + order["customer_id"])
