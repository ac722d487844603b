# tools: shop
# expect: missing-key line 4
order = get_order(order_id=1)
print((order["notes"] or ["none"])[0], order["totals"]["EUR"], order["created_at"])
