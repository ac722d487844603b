# tools: shop
# expect: none
order = get_order(order_id=1)
late = order["delay_days"]
print("on time" if not late else "late" if late < 3 else "very late")
