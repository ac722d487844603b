import asyncio


async def main():
    one, two = await asyncio.gather(
        asyncio.to_thread(get_item, id=1),
        asyncio.to_thread(get_item, id=2),
    )
    return one["price"] + two["price"]


print(asyncio.run(main()))
