# answer: [['item 1', 'item 2'], 0, 'text']
# calls at once: 2
# monty lacks: wait
import asyncio


async def main():
    tasks = [asyncio.ensure_future(get_item(id=n)) for n in (1, 2)]
    done, pending = await asyncio.wait(tasks, timeout=30)
    names = sorted(task.result()["name"] for task in done)
    text = await asyncio.wait_for(echo(text="text"), timeout=30)
    return [names, len(pending), text]


await main()
