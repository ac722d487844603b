# tools: shop
# expect: none
a = {o["order_id"]: o for o in list_orders(customer_id=1)}
b = {o["order_id"]: o for o in list_orders(customer_id=2)}
print(len(a.keys() & b.keys()), (a | b).get(1), {**a, **b}[1]["status"] if 1 in a else None, set(a) - set(b), sorted(a.keys() | b.keys()))
a |= b
a.pop(1, None)
print(a)
