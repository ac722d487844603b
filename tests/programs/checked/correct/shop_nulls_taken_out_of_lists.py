# tools: shop
# expect: none
customers = list_customers()
while None in (last := [c["last_order"] for c in customers]):
    customers.pop(last.index(None))
todo = [c["last_order"] for c in list_customers()]
if None in todo:
    todo.remove(None)
print([get_order(order_id=n)["status"] for n in todo])
todo = sorted((c["last_order"] for c in list_customers() if c["last_order"] is not None), reverse=True)
print(get_order(order_id=todo[0])["status"])
from itertools import groupby, takewhile, dropwhile, filterfalse, compress
todo = filterfalse(lambda n: n is None, (c["last_order"] for c in list_customers()))
print([get_order(order_id=n)["status"] for n in todo])
todo = takewhile(lambda n: n is not None, (c["last_order"] for c in list_customers()))
print([get_order(order_id=n)["status"] for n in todo])
first = next((c["last_order"] for c in list_customers() if c["last_order"]), None)
if first:
    print(get_order(order_id=first)["status"])
best = max(list_customers(), key=lambda c: c["last_order"] or 0)
if best["last_order"]:
    print(get_order(order_id=best["last_order"])["status"])
def clean(xs):
    return [x for x in xs if x is not None]
print([get_order(order_id=n)["status"] for n in clean(c["last_order"] for c in list_customers())])
half = len(customers) / 2
print(search_products(query="a", limit=int(half))["total"], search_products(query="a", limit=round(half))["total"])
import math
print(search_products(query="a", limit=math.ceil(half))["total"], search_products(query="a", limit=len(customers) // 2)["total"])
print(search_products(query="a", max_price=half)["total"])
