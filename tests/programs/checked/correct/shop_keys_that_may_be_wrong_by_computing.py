# tools: shop
# expect: none
order = get_order(order_id=1)
for key in ("id", "order_id", "number"):
    if key in order:
        print(order[key])
        break
name = next((order[k] for k in ("id", "order_id") if k in order), None)
print(name)
