import asyncio


async def fetch(number):
    return get_item(id=number)


async def main():
    async with asyncio.TaskGroup() as group:
        group.create_task(fetch(1))
        group.create_task(fetch(-1))


asyncio.run(main())
