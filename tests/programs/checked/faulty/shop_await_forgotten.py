# tools: shop
# expect: missing-await line 5
import asyncio
order = asyncio.to_thread(get_order, order_id=1)
print(order["status"])
