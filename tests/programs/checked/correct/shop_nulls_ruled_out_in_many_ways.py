# tools: shop
# expect: none
def first(xs):
    return next(iter(xs), None)

c = first(list_customers())
if c and c["last_order"]:
    print(get_order(order_id=c["last_order"])["status"])
for c in list_customers():
    if not (n := c["last_order"]):
        continue
    print(get_order(order_id=n)["status"])
for c in filter(lambda c: c["last_order"], list_customers()):
    print(get_order(order_id=c["last_order"])["status"])
numbers = list(filter(None, [c["last_order"] for c in list_customers()]))
print([get_order(order_id=n)["status"] for n in numbers])
numbers = {c["last_order"] for c in list_customers()} - {None}
print([get_order(order_id=n)["status"] for n in numbers])
by = {c["name"]: c["last_order"] for c in list_customers()}
for name, n in by.items():
    if n is None:
        print(name)
    else:
        print(get_order(order_id=n)["status"])
print([get_order(order_id=n)["status"] for n in by.values() if n is not None])
known = {k: v for k, v in by.items() if v is not None}
print([get_order(order_id=v)["status"] for v in known.values()], max(known, key=known.get, default=None))
args = [(c["name"], c["last_order"]) for c in list_customers() if c["last_order"] is not None]
for name, n in args:
    print(get_order(order_id=n)["status"])
def status(n):
    if n is None:
        return "-"
    return get_order(order_id=n)["status"]
print([status(c["last_order"]) for c in list_customers()])
def status2(c):
    return get_order(order_id=c["last_order"])["status"] if c["last_order"] is not None else "-"
print(list(map(status2, list_customers())))
match list_customers()[0]:
    case {"last_order": int(n)}:
        print(get_order(order_id=n)["status"])
    case _:
        print("none")
ids = []
for c in list_customers():
    n = c.get("last_order")
    if isinstance(n, int):
        ids.append(n)
for n in ids:
    print(get_order(order_id=n)["status"])
c = list_customers()[0]
n = c["last_order"] if c["last_order"] is not None else 5
print(get_order(order_id=n)["status"])
if c["last_order"] is None or get_order(order_id=c["last_order"])["status"] == "open":
    print("x")
print(c["last_order"] and get_order(order_id=c["last_order"])["status"])
if any(x["last_order"] is None for x in list_customers()):
    raise SystemExit("some have none")
print([get_order(order_id=x["last_order"])["status"] for x in list_customers()])
