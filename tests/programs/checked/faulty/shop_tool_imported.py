# tools: shop
# expect: tool-reassigned line 3
from shop import get_order
print(get_order(order_id=1)["status"])
