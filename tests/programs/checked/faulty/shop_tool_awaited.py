# tools: shop
# expect: not-awaitable line 3
order = await get_order(order_id=1)
print(order["status"])
