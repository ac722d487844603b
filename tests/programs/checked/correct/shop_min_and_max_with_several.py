# tools: shop
# expect: none
order = get_order(order_id=1)
days = order["delay_days"]
print(max(order["shipping"]["days"], days or 0), min(1, 2, order["order_id"]), max("a", order["status"]), max([1], order["lines"], key=len))
