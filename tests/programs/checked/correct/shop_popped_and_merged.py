# tools: shop
# expect: none
order = get_order(order_id=1)
shipping = order.pop("shipping")
merged = order | {"city": shipping["address"]["city"]}
print(merged["city"], order.keys() & {"status"}, dict(order, extra=1)["extra"])
