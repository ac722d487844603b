# answer: {'item 1': 1.5, 'item 2': 3.0, 'item 3': 4.5, 'item 4': 6.0}
# calls at once: 4
import asyncio


async def price_of(number):
    item = await get_item(id=number)
    return item["name"], item["price"]


pairs = await asyncio.gather(*(price_of(n) for n in (1, 2, 3, 4)))
print(dict(pairs))
