# tools: shop
# expect: wrong-operand line 5
from datetime import datetime
order = get_order(order_id=1)
print(datetime.fromisoformat(order).year)
