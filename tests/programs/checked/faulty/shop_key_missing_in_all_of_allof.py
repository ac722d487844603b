# tools: shop
# expect: missing-key line 4
# says: placed_at
print(get_order(order_id=1)["placed_on"])
