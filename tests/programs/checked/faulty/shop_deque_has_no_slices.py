# tools: shop
# expect: not-a-list line 5
from collections import deque
last = deque(list_orders(customer_id=1), maxlen=10)
print([o["order_id"] for o in last[:3]])
