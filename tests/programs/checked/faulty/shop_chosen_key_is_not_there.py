# tools: shop
# expect: missing-key line 5
# says: 'total'
order = get_order(order_id=1)
print({key: order[key] for key in ["order_id", "status", "total"]})
