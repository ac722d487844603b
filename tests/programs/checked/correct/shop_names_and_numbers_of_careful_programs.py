# tools: shop
# expect: none
from collections import defaultdict
import statistics
from datetime import timedelta
from decimal import Decimal

def load(number):
    try:
        order = get_order(order_id=number)
    except ToolError:
        return None
    return order

o = load(1)
if o is None:
    raise SystemExit
print(o["status"])

def retry(n):
    for attempt in range(3):
        try:
            result = get_order(order_id=n)
            break
        except ToolError as e:
            last = e
    else:
        raise last
    return result

print(retry(1)["status"])

def retry2(n):
    for attempt in range(3):
        try:
            return get_order(order_id=n)
        except ToolError as e:
            err = e
    raise err

print(retry2(1)["status"])
groups = defaultdict(list)
for p in search_products(query="x")["items"]:
    groups[p["price"]].append(p)
print(max(groups, key=lambda k: len(groups[k])))
counts = {}
for p in search_products(query="x")["items"]:
    counts[p["title"]] = counts.get(p["title"], 0) + 1
if counts:
    print(max(counts, key=counts.get), sorted(counts, key=counts.get)[0])
print(statistics.mean([Decimal("1"), Decimal("2")]) + Decimal(1))
rows = search_products(query="x")["items"]
if rows:
    head = rows[0]
for r in rows:
    print(r["price"] - head["price"])
lowest = None
for r in rows:
    if lowest is None or r["price"] < lowest["price"]:
        lowest = r
if lowest:
    print(lowest["title"])
page = 1
total = 0
while total < 10:
    res = search_products(query="x", limit=page)
    total += res["total"]
    page += 1
print(res["total"])
if len(rows) > 2:
    a, b = rows[0], rows[1]
    if a["rating"] is not None and b["rating"] is not None:
        print(a["rating"] - b["rating"])
else:
    a = b = None
print(a and a["title"])
with_tags = [p for p in rows if p["tags"]]
assert with_tags
for p in with_tags:
    t = p["tags"][0]
print(len(with_tags))
h, m = divmod(timedelta(hours=3).seconds, 3600)
print(f"{h:02d}:{m:02d}", divmod(7.5, 2)[0])
q, rest = divmod(timedelta(hours=3), timedelta(hours=1))
print(q, rest.seconds)
