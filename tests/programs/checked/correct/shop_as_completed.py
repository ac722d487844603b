# tools: shop
# expect: none
import asyncio

async def main():
    tasks = [asyncio.create_task(asyncio.to_thread(get_order, order_id=n)) for n in (1, 2, 3)]
    for task in asyncio.as_completed(tasks):
        order = await task
        print(order["status"])
    mixed = await asyncio.gather(*tasks, return_exceptions=True)
    print([m["status"] for m in mixed if not isinstance(m, Exception)])

asyncio.run(main())
