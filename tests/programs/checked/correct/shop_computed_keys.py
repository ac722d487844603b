# tools: shop
# expect: none
order = get_order(order_id=1)
for key in ("order_id", "status"):
    print(key, order[key])
for key in order:
    print(key, order[key])
for key in sorted(order):
    print(key.upper(), len(key))
field = "status" if len(order) > 3 else "order_id"
print(order[field], order.get(field), {k: order[k] for k in order if k != "lines"})
