# tools: shop
# expect: missing-key line 8
import asyncio
async def main():
    jobs = [asyncio.to_thread(get_order, order_id=n) for n in (1, 2, 3)]
    orders = await asyncio.gather(*jobs)
    # all of them
    print([o["id"] for o in orders])
asyncio.run(main())
