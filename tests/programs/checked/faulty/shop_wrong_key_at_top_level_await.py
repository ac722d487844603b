# tools: shop
# expect: missing-key line 5
import asyncio
order, customer = await asyncio.gather(asyncio.to_thread(get_order, order_id=1), asyncio.to_thread(get_customer, customer_id=2))
print(order["status"], customer["status"])
