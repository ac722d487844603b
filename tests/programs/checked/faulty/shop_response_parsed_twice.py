# tools: shop
# expect: wrong-operand line 5
# says: needs no json.loads
import json
order = json.loads(get_order(order_id=1))
print(order["status"])
