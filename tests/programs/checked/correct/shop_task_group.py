# tools: shop
# expect: none
import asyncio

async def main():
    results = {}
    async def one(n):
        results[n] = await asyncio.to_thread(get_order, order_id=n)
    async with asyncio.TaskGroup() as group:
        for n in (1, 2):
            group.create_task(one(n))
    print({n: order["status"] for n, order in results.items()})

asyncio.run(main())
