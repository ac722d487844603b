# tools: shop
# expect: none
order = get_order(order_id=1)
status = order["status"]
del order
order = {"status": status, "extra": 1}
print(order["extra"], order["status"])
