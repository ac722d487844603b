# answer: [3.0, 6.0]
# calls at once: 2
import asyncio


async def then(awaitable, function):
    return function(await awaitable)


prices = await asyncio.gather(
    then(get_item(id=2), lambda item: item["price"]),
    then(get_item(id=4), lambda item: item["price"]),
)
prices
