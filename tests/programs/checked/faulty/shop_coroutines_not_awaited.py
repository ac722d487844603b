# tools: shop
# expect: missing-await line 14
# expect: missing-await line 14
# fault: load is a coroutine function called without await, so the elements of orders are coroutines and cannot be indexed
import asyncio


async def load(order_id):
    return get_order(order_id=order_id)


async def main(*ids):
    orders = [load(i) for i in ids]
    slow = [o["order_id"] for o in orders if o["shipping"]["days"] > 5]
    print("Slow orders:", slow or "none")


asyncio.run(main(101, 102, 103))
