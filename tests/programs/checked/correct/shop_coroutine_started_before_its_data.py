# tools: shop
# expect: none
import asyncio

async def main():
    async def show():
        await asyncio.sleep(0)
        print(data["status"])
    task = asyncio.create_task(show())
    data = await asyncio.to_thread(get_order, order_id=1)
    await task

asyncio.run(main())
