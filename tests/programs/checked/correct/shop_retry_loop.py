# tools: shop
# expect: none
import time

for attempt in range(3):
    try:
        order = get_order(order_id=1)
        break
    except ToolError as error:
        last = error
        time.sleep(attempt)
else:
    raise last
print(order["status"])
