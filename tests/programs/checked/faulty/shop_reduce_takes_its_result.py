# tools: shop
# expect: not-an-object line 5
from functools import reduce
orders = list_orders(customer_id=4)
print(reduce(lambda a, b: a["order_id"] + b["order_id"], orders))
