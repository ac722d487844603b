# tools: shop
# expect: none
from itertools import chain, groupby, islice
from operator import itemgetter
import statistics

orders = list_orders(customer_id=1)
orders.sort(key=itemgetter("status"))
for status, group in groupby(orders, key=itemgetter("status")):
    group = list(group)
    print(status, len(group), group[0]["order_id"])
lines = list(chain.from_iterable(o["lines"] for o in orders))
print(statistics.mean(line["unit_price"] for line in lines), [x["sku"] for x in islice(lines, 3)])
