# answer: [0.0, 1.5, 3.0, 4.5]
# calls at once: 4
# monty lacks: to_thread
import asyncio


def fetch(number, factor=1):
    return get_item(id=number)["price"] * factor


async def main():
    return await asyncio.gather(*[asyncio.to_thread(fetch, n) for n in range(4)])


print(asyncio.run(main()))
