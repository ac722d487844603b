# tools: shop
# expect: missing-key line 5
import copy
order = copy.deepcopy(get_order(order_id=1))
print(order["shipping"]["eta"])
