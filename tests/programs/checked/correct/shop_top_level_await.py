# tools: shop
# expect: none
import asyncio
orders = await asyncio.gather(*[asyncio.to_thread(get_order, order_id=n) for n in (1, 2, 3)])
orders.sort(key=lambda o: o["placed_at"])
print(orders[0]["status"], [o["order_id"] for o in orders])
