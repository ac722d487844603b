# answer: ['item 1', 'item 2', 'item 3']
# calls at once: 3
# monty lacks: event loops
import asyncio


async def main():
    loop = asyncio.get_running_loop()
    calls = [loop.run_in_executor(None, lambda n=n: get_item(id=n)) for n in (1, 2, 3)]
    return [item["name"] for item in await asyncio.gather(*calls)]


loop = asyncio.new_event_loop()
print(loop.run_until_complete(main()))
loop.close()
