# tools: shop
# expect: none
from functools import reduce
from operator import attrgetter, itemgetter, add
from dataclasses import dataclass
orders = list_orders(customer_id=1)
longest = reduce(lambda a, b: a if a["order_id"] > b["order_id"] else b, orders)
print(longest["status"])
def step(acc, order):
    acc[order["status"]] = acc.get(order["status"], 0) + 1
    return acc
print(reduce(step, orders, {}))
print(reduce(lambda acc, o: acc | {o["status"]}, orders, set()))
print(reduce(lambda acc, o: acc + o["order_id"], orders, 0) + 1)
best = reduce(lambda best, o: o if best is None or o["order_id"] > best["order_id"] else best, orders, None)
print(best)
def add_up(acc, o):
    if isinstance(acc, dict):
        acc = acc["order_id"]
    return acc + o["order_id"]
print(reduce(add_up, orders))
n = reduce(lambda acc, o: {**acc, o["order_id"]: acc.get(o["order_id"], 0) + 1}, orders, {})
print(n)
text = reduce(lambda acc, o: acc + ", " + o["status"] if acc else o["status"], orders, "")
print(text)
pair = reduce(lambda acc, o: (acc[0] + 1, acc[1] + o["order_id"]), orders, (0, 0))
count, total = pair
print(count, total)
first = reduce(lambda acc, o: o["order_id"] if acc == "none" else acc, orders, "none")
print(first)
node = reduce(lambda cat, i: cat["children"][i], [0, 1], get_category_tree(root_id=1))
print(node["name"])
def total_of(a, b=2, *, c=3, **more):
    return a + b
print(total_of(1), total_of(1, 2), total_of(1, c=4, d=5), list(map(total_of, [1, 2])), list(map(total_of, [1, 2], [3, 4])))
@dataclass
class Row:
    name: str
    n: int
rows = [Row(c["name"], c["customer_id"]) for c in list_customers()]
rows.sort(key=attrgetter("name", "n"))
print(max(rows, key=attrgetter("n")).name)
a, b = itemgetter("order_id", "status")(get_order(order_id=1))
print(a + 1, b.upper())
