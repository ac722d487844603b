# tools: shop
# expect: none
import json, re, threading, itertools
from collections import ChainMap, Counter, OrderedDict, defaultdict
from dataclasses import dataclass, asdict, astuple
from functools import cache, partial, reduce, singledispatch, total_ordering
from operator import attrgetter, itemgetter, methodcaller
from types import SimpleNamespace
from typing import NamedTuple
from concurrent.futures import ThreadPoolExecutor

customers = list_customers()
by_city = defaultdict(dict)
for w in list_warehouses():
    by_city[w["city"]][w["code"]] = w["capacity"]
for city, held in by_city.items():
    for code, capacity in held.items():
        print(city, code, capacity + 1)
totals = Counter()
for o in list_orders(customer_id=1):
    totals[o["status"]] += 1
    totals[o["order_id"], o["status"]] += 1
print(totals["open"], totals[1, "open"])
index = {}
index["first"] = 1
for c in customers:
    index[c["customer_id"]] = c["name"]
print(index.get(3), index["first"])
class Money(NamedTuple):
    amount: float
    unit: str = "EUR"
    def plus(self, other):
        return self._replace(amount=self.amount + other)
m = Money(1.0)
amount, unit = m.plus(2)
print(amount, unit)
@total_ordering
class V:
    def __init__(self, n):
        self.n = n
    def __lt__(self, other):
        return self.n < other.n
    def __eq__(self, other):
        return self.n == other.n
print(max([V(1), V(2)]).n)
class Store:
    seen = {}
    def __init__(self, fetch=None):
        self.fetch = fetch or (lambda sku: get_product(sku=sku))
        self.rows = []
    def add(self, sku):
        if sku not in self.seen:
            self.seen[sku] = self.fetch(sku)
        self.rows.append(self.seen[sku])
        return self
    @staticmethod
    def name(p):
        return p["title"]
    @classmethod
    def make(cls, *skus):
        store = cls()
        for sku in skus:
            store.add(sku)
        return store
    @property
    def titles(self):
        return [self.name(r) for r in self.rows]
    @titles.setter
    def titles(self, value):
        self.rows = value
s = Store.make("AB-1234", "AB-1235")
print(s.titles, list(map(Store.name, s.rows)), list(map(s.name, s.rows)))
s.titles = []
def gather(*names, sep=", ", **more):
    return sep.join(names) + str(more)
print(gather(), gather("a", "b", sep=";", c=1), gather(*[c["name"] for c in customers]))
apply = lambda f, *args, **kw: f(*args, **kw)
print(apply(get_customer, customer_id=1)["name"], apply(lambda x, y=2: x + y, 1))
@cache
def rate(base, target="USD"):
    return exchange_rates(base=base).get(target)
print(rate("EUR"), rate("EUR", "CHF"))
def run(tool, **kwargs):
    return tool(**kwargs)
print(run(get_customer, customer_id=4)["name"], len(run(list_orders, customer_id=4)))
def retry(times=3):
    def wrap(fn):
        def inner(*a, **k):
            for _ in range(times):
                try:
                    return fn(*a, **k)
                except Exception:
                    continue
            return None
        return inner
    return wrap
@retry(times=2)
def get(order_id):
    return get_order(order_id=order_id)
got = get(4)
if got:
    print(got["status"])
with ThreadPoolExecutor() as pool:
    for c, orders in zip(customers, pool.map(lambda c: list_orders(customer_id=c["customer_id"]), customers)):
        print(c["name"], len(orders))
    done = [pool.submit(get_customer, customer_id=n) for n in (1, 2)]
    print([f.result()["name"] for f in done])
words = "a:b:c".split(":", 2)
x, y, z = words
head, *tail = "a b c".split(" ", 1)
print(x, y, z, head, tail)
for i, (k, v) in enumerate(sorted(by_city.items())):
    print(i, k, len(v))
for a, b in itertools.pairwise([1, 2, 3]):
    print(a + b)
for (a, b), c in zip([(1, 2)], "x"):
    print(a, b, c)
for k, g in itertools.groupby([(1, "a"), (1, "b")], key=itemgetter(0)):
    print(k, [v for _, v in g])
params = {}
params["customer_id"] = 3
if len(customers) > 3:
    params["status"] = "open"
print(len(list_orders(**params)))
opts = dict(limit=5)
opts.update(query="x")
print(search_products(**opts)["total"])
order = get_order(order_id=1)
payload = {k: v for k, v in order.items() if k not in ("lines", "notes")}
payload["when"] = "now"
print(log_event(payload=payload), log_event(payload={**order, "x": 1}))
rec = dict(order)
rec.pop("status")
print(json.dumps(rec))
print("%s %s" % ("a", "b"), "{:>10} {:<5}|{}".format("a", 1, [1]), "{0}{0}".format(1), "{a.real}".format(a=1))
tmpl = "{name} ({status})"
for o in list_orders(customer_id=2):
    print(tmpl.format(name="x", **{"status": o["status"]}), tmpl.format_map({**o, "name": "y"}))
print(sorted(customers, key=methodcaller("get", "name"))[0])
ns = SimpleNamespace(**order)
ns.status = "x"
print(ns.status)
names = list(map(str.upper, (c["name"] for c in customers)))
print(names[:2])
low = min((p["price"], p["sku"]) for p in search_products(query="x")["items"] or [{"price": 1, "sku": "a"}])
print(low[0])
best = reduce(lambda b, p: max(b, p["price"]), search_products(query="x")["items"], 0)
print(best)
flat = reduce(lambda acc, o: acc + o["lines"], list_orders(customer_id=1), [])
print(len(flat))
merged = reduce(lambda acc, d: {**acc, **d}, [{"a": 1}, {"b": 2}])
print(merged["a"])
nested = reduce(lambda acc, o: (acc.setdefault(o["status"], []).append(o), acc)[1], list_orders(customer_id=1), {})
print(nested.keys())
t = threading.Thread(target=print, args=("x",))
t.start()
grid = [[0] * 3 for _ in range(3)]
grid[0][1] = 5
print(grid)
def visit(node, depth=0):
    print("  " * depth, node["name"])
    for child in node["children"]:
        visit(child, depth + 1)
visit(get_category_tree(root_id=1))
matrix = {(r, c): v for r, row in enumerate(get_stock_matrix()["matrix"]) for c, v in enumerate(row)}
print(matrix.get((0, 1)), (0, 1) in matrix)
letters = {"ab": 1}
for p, q in letters:
    print(p, q)
for n in {1, 2}:
    print(n)
lo, hi = sorted([3, 1])[:2]
print(lo, hi)
