# tools: shop
# expect: not-awaitable line 5
# expect: not-awaitable line 5
import asyncio
both = await asyncio.gather(get_order(order_id=1), get_order(order_id=2))
print(both)
