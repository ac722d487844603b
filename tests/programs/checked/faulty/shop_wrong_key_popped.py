# tools: shop
# expect: missing-key line 4
order = get_order(order_id=1)
print(order.pop("number"))
