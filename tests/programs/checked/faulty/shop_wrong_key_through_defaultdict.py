# tools: shop
# expect: missing-key line 8
from collections import defaultdict
groups = defaultdict(list)
for order in list_orders(customer_id=1):
    groups[order["status"]].append(order)
for status, orders in groups.items():
    print(status, sum(o["amount"] for o in orders))
