# answer: [1, 2, 3, 4]
# calls at once: 2
# monty lacks: Semaphore
import asyncio

limit = asyncio.Semaphore(2)


async def fetch(number):
    async with limit:
        return (await get_item(id=number))["id"]


async def main():
    return await asyncio.gather(*[fetch(n) for n in (1, 2, 3, 4)])


print(asyncio.run(main()))
