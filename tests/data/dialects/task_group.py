# answer: ['item 1', 'item 2', 'item 3']
# calls at once: 3
# monty lacks: TaskGroup
import asyncio


async def main():
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(get_item(id=n)) for n in (1, 2, 3)]
    return [task.result()["name"] for task in tasks]


print(asyncio.run(main()))
