# answer: ['item 4', 'item 5', 'item 6']
# calls at once: 3
import asyncio


class Shop:
    def __init__(self, prefix):
        self.prefix = prefix

    async def name(self, number):
        item = await get_item(id=number)
        return self.prefix + item["name"]


async def main():
    shop = Shop("")
    return await asyncio.gather(shop.name(4), shop.name(5), shop.name(6))


print(asyncio.run(main()))
