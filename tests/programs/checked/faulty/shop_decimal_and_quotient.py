# tools: shop
# expect: wrong-operand line 6
from decimal import Decimal
order = get_order(order_id=1)
rate = order["shipping"]["days"] / 7
print(Decimal("1.20") * rate)
