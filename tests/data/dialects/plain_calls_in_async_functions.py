# answer: {'item 1': 4.5, 'item 2': 6.0, 'item 3': 7.5}
# calls at once: 3
# monty lacks: plain functions that are suspended at a call
import asyncio


def price(number):
    item = get_item(id=number)
    return item["price"]


async def pair(number):
    name = echo(text=f"item {number}")
    return name, price(number + 2)


async def main():
    return dict(await asyncio.gather(*[pair(n) for n in (1, 2, 3)]))


print(asyncio.run(main()))
