# tools: shop
# expect: none
order = get_order(order_id=1)
print(next((order[k] for k in ("id",) if k in order), None), [order[k] for k in ("number", "state") if k in order])
wanted = "total"
if wanted in order:
    print(order[wanted])
