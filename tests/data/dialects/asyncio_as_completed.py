# answer: [1, 2, 3]
# calls at once: 3
# monty lacks: as_completed
import asyncio


async def main():
    found = []
    for one in asyncio.as_completed([get_item(id=n) for n in (1, 2, 3)]):
        item = await one
        found.append(item["id"])
    print(sorted(found))


asyncio.run(main())
