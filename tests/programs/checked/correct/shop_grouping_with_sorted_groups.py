# tools: shop
# expect: none
from itertools import groupby
orders = sorted(list_orders(customer_id=1), key=lambda o: o["status"])
groups = {status: list(found) for status, found in groupby(orders, key=lambda o: o["status"])}
print({status: len(found) for status, found in groups.items()}, groups["open"][0]["order_id"] if "open" in groups else 0)
