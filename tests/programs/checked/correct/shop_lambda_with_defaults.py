# tools: shop
# expect: none
readers = [lambda o, k=k: o[k] for k in ("order_id", "status")]
order = get_order(order_id=1)
print([r(order) for r in readers], (lambda *a, **k: (a, k))(1, b=2))
