# tools: shop
# expect: none
from collections import Counter, defaultdict, deque, namedtuple
from dataclasses import dataclass, field, replace, InitVar
from decimal import Decimal
from functools import lru_cache, wraps, partial, cached_property
from itertools import groupby
from operator import itemgetter

orders = list_orders(customer_id=1)
counts = Counter(o["status"] for o in orders)
[(top, n)] = counts.most_common(1) or [("none", 0)]
print(top, n)
for status, n in counts.most_common(2):
    print(status, n)
if counts:
    (name, times), *rest = counts.most_common(3)
    print(name, times, rest)
first, second, *_ = "a-b-c".split("-", 1)
a, b = "a b".split(None, 1)
for status, group in groupby(sorted(orders, key=itemgetter("status")), key=itemgetter("status")):
    print(status, len(list(group)))
by_pair = {(o["status"], o["customer_id"]): o for o in orders}
print(by_pair["open", 1], ("paid", 2) in by_pair, by_pair.get(("open", 3)))
for (status, who), o in by_pair.items():
    print(status, who, o)
by_id = {}
for o in orders:
    by_id.setdefault(o["order_id"], []).append(o)
if "none" not in counts:
    print(by_id.get(3))
prices = {"tools": Decimal("0.1")}
total = Decimal(0)
for o in orders:
    total += len(o["lines"]) * Decimal("1.5")
    total += Decimal(str(o["order_id"] * 1.1))
total = round(total, 2)
total += 1
print(f"{total:.2f}", total > 1.5, float(total) + 0.5, sum([Decimal(1)], Decimal(0)) + total)
@dataclass(frozen=True)
class P:
    x: int
    y: int = 0
    def moved(self):
        return replace(self, x=self.x + 1)
p = P(1)
print(p.moved().x, {p: 1}[p])
@dataclass
class Q:
    x: int
    scale: InitVar[int] = 2
    items: list = field(default_factory=list)
    def __post_init__(self, scale):
        self.x *= scale
q = Q(1, 3)
q.x = 5
print(q.x)
N = namedtuple("N", "a b")
n = N(1, 2)._replace(a=3)
print(n.a, n[0])
@lru_cache(maxsize=None)
def tree(root_id):
    return get_category_tree(root_id=root_id)
print(tree(1)["name"])
def logged(fn):
    @wraps(fn)
    def inner(*args, **kwargs):
        return fn(*args, **kwargs)
    return inner
@logged
def twice(x, y=2):
    return x * y
print(twice(2), twice(2, y=3))
print("{0} {1[name]} {n:>{w}} {{}}".format(1, get_customer(customer_id=2), n=3, w=5))
print("{} {}".format(*("a", "b")), "{a}".format(**{"a": 1}), "{name}".format_map(get_customer(customer_id=1)))
base = {"query": "x"}
page = {**base, "limit": 5}
print(search_products(**page)["total"])
if counts:
    page["cursor"] = "abc"
print(search_products(**page)["total"])
common = {"customer_id": 1}
print(len(list_orders(**common | {"status": "open"})))
order = get_order(order_id=1)
lines = [{"sku": l["sku"], "quantity": max(1, l["quantity"])} for l in order["lines"]]
lines.append(dict(sku="AB-1", quantity=2))
extra = {"sku": "x"}
extra["quantity"] = 3
lines.append(extra)
print(create_order(customer_id=1, lines=lines)["status"])
keep = {k: v for k, v in order.items() if k in ("customer_id",)}
print(list_orders(**keep, status="paid"))
print({k: order[k] for k in ("status", "order_id")}["status"])
print(create_order(customer_id=1, lines=[{k: l[k] for k in ("sku", "quantity")} for l in order["lines"]]))
codes = {w["code"]: w for w in list_warehouses()}
for c1, c2 in {"ab": 1, "cd": 2}:
    print(c1, c2)
for code in codes:
    print(code)
q2 = deque([1, 2, 3])
q2[0] = 5
print(q2[0], list(q2)[:2])
rows = [[1, 2], [3, 4]]
for x, y in rows[:1]:
    print(x, y)
x, y = rows[0]
print(x + y)
search = partial(search_products, limit=5)
print(search(query="a")["total"])
grid = get_stock_matrix()["matrix"]
grid2 = list(zip(*grid))
print(grid2)
print(dict.fromkeys(["a", "b"], 0)["a"] + 1)
seen = set()
for o in orders:
    key = (o["status"], tuple(l["sku"] for l in o["lines"]))
    if key in seen:
        continue
    seen.add(key)
print(len(seen))
