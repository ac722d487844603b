# tools: shop
# expect: none
order = None
for attempt in range(3):
    try:
        order = get_order(order_id=attempt)
    except ToolError as error:
        if error.status == 404:
            continue
        raise
    if order["status"] == "open":
        break
print(order["status"] if order else None)
