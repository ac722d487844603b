# answer: ('item 5', 'item 6', 2)
# calls at once: 2
# monty lacks: create_task
import asyncio


async def main():
    first = asyncio.create_task(get_item(id=5))
    second = asyncio.create_task(get_item(id=6))
    await asyncio.sleep(0)
    rows = list_items(page=0)[:2]
    return (await first)["name"], (await second)["name"], len(rows)


print(asyncio.run(main()))
