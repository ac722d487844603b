# tools: shop
# expect: none
order = None
try:
    order = get_order(order_id=1)
except ToolError as error:
    print(error.body)
else:
    print(order["status"])
finally:
    print(order is not None and order["order_id"])
