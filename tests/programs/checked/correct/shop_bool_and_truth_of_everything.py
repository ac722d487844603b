# tools: shop
# expect: none
order = get_order(order_id=1)
print(bool(order), not order["lines"], any(order["lines"]), all([order["notes"], order["delay_days"]]), bool(order["delay_days"]))
if order and order["lines"] and not order["notes"]:
    print("x" if order["delay_days"] else "y")
