# answer: [[1, 2], [3, 4]]
# calls at once: 4
import asyncio


async def both(one, two):
    first, second = await asyncio.gather(get_item(id=one), get_item(id=two))
    return [first["id"], second["id"]]


print(await asyncio.gather(both(1, 2), both(3, 4)))
