# tools: shop
# expect: none
from collections import Counter, defaultdict
from dataclasses import dataclass, field, KW_ONLY
from decimal import Decimal, ROUND_HALF_UP
from fractions import Fraction
from functools import reduce, partial
import functools, itertools, operator
from statistics import mean
from datetime import datetime, date

def safe(call, default=None, **kwargs):
    try:
        return call(**kwargs)
    except Exception:
        return default
print(safe(get_order, order_id=3), safe(get_customer, {}, customer_id=2))
# Decimal from round and mean
prices = [Decimal(str(p["price"])) for p in search_products(query="a")["items"]]
if prices:
    print(mean(prices) + Decimal(1), round(mean(prices), 2) + Decimal("0.5"), max(prices) * 2, min(prices, default=Decimal(0)) + 1)
vat = Decimal("0.2")
def gross(net: Decimal) -> Decimal:
    return (net * (1 + vat)).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
print(sum((gross(p) for p in prices), Decimal("0")), sum(map(gross, prices), start=Decimal(0)))
print(Fraction(1, 2) * 0.5, Decimal(1) / 3, 2 ** Decimal(3), -Decimal(2) + 1)
total = 0
for p in prices:
    total += p
print(total * Decimal(2))
def number(x):
    return Decimal(str(x)) if isinstance(x, float) else x
print(number(2.5) * Decimal(3))
# mixed-key dicts
stats = {"all": 0}
for o in list_orders(customer_id=1):
    stats["all"] += 1
    stats[o["order_id"]] = stats.get(o["order_id"], 0) + 1
print(stats.get(3), stats["all"], 4 in stats)
cache = {}
def cached(key):
    if key not in cache:
        cache[key] = get_order(order_id=key[0]) if isinstance(key, tuple) else get_order(order_id=key)
    return cache[key]
print(cached((1, 2))["status"], cached(3)["status"])
memo = {}
def fib(n):
    if n in memo:
        return memo[n]
    memo[n] = n if n < 2 else fib(n - 1) + fib(n - 2)
    return memo[n]
print(fib(5))
lookup = {c["customer_id"]: c for c in list_customers()}
last = get_customer(customer_id=1)["last_order"]
print(lookup.get(last, {}), None in lookup)
# generators materialised by name
def pages():
    n = 1
    while True:
        data = page_of_tags(page=n)
        yield from data["tags"]
        if not data["more"]:
            return
        n += 1
tags = list(pages())
print(tags[:3], len(tags), list(itertools.islice(pages(), 2))[0])
pages = tags
print(len(pages))
rows = (o for o in list_orders(customer_id=1))
rows = sorted(rows, key=operator.itemgetter("order_id"))
print(len(rows), rows[:2])
view = lookup.keys()
print(len(view), list(view)[0:1], len(lookup.items()), len(range(3)), range(10)[2:4][0])
groups = {k: list(g) for k, g in itertools.groupby(rows, key=lambda o: o["status"])}
print({k: len(g) for k, g in groups.items()})
@dataclass(order=True)
class Entry:
    rank: int
    _: KW_ONLY
    name: str = ""
    tags: list = field(default_factory=list, compare=False)
    def bump(self, by=1):
        self.rank += by
        return self
e = Entry(1, name="x")
e.bump().bump(by=3)
e.tags.append("y")
print(sorted([e, Entry(2)], key=lambda x: x.rank)[0].name)
@dataclass(frozen=True)
class Fixed:
    a: int
    b: dict = field(default_factory=dict)
    def __post_init__(self):
        object.__setattr__(self, "a", self.a + 1)
f = Fixed(1)
f.b["x"] = 2
f = functools.reduce(lambda acc, n: Fixed(acc.a + n), [1, 2], f)
print(f.a)
# spreads
def query(**filters):
    filters = {k: v for k, v in filters.items() if v is not None}
    return search_products(query="x", **filters)
print(query(limit=3, cursor=None)["total"], query()["total"])
def orders_of(customer_id, *, status=None, since=None):
    kw = {"customer_id": customer_id}
    if status:
        kw["status"] = status
    if since:
        kw |= {"since": since}
    return list_orders(**kw)
print(len(orders_of(1)), len(orders_of(1, status="open", since="2024-01-01")))
settings = {"limit": 5}
settings = {**settings, "limit": 10}
print(search_products(query="y", **settings)["total"])
row = {"amount": 1, "source": "EUR", "target": "USD", "note": "x"}
note = row.pop("note")
print(convert(**row), note)
for args in [{"sku": "AB-1234"}, {"sku": "AB-1235"}]:
    print(get_product(**args)["title"])
jobs = [(get_order, {"order_id": 1}), (get_customer, {"customer_id": 1})]
for fn, kw in jobs:
    print(fn(**kw))
names = ("amount", "source", "target")
print([convert(**dict(zip(names, values))) for values in [(1, "EUR", "USD")]])
when = datetime.fromisoformat(get_order(order_id=1)["placed_at"].replace("Z", "+00:00"))
print(when.year, date.fromisoformat("2024-01-01") < date(2025, 1, 1))
line = {"sku": "AB-1234"}
line.update(quantity=2)
print(create_order(customer_id=1, lines=[line, {**line, "quantity": 3}], labels=[*tags, "x"]))
lines = [{"sku": s} for s in ("AB-1234", "AB-1235")]
for l in lines:
    l["quantity"] = 1
print(create_order(customer_id=1, lines=lines))
basket = defaultdict(int)
for l in get_order(order_id=1)["lines"]:
    basket[l["sku"]] += l["quantity"]
print(create_order(customer_id=1, lines=[{"sku": s, "quantity": q} for s, q in basket.items()]))
print(create_order(customer_id=1, lines=[dict(zip(("sku", "quantity"), item)) for item in basket.items()]))
(a, b), *_ = basket.items() or [("x", 1)]
print(a, b)
s = {"x"}
s |= {"y"}
frozen = frozenset(s)
print({frozen: 1}[frozen], (1, (2, "x")) in {(1, (2, "x")): 3})
matrix = get_stock_matrix()["matrix"]
first, *others = matrix[0] if matrix else [0]
print(first, others)
