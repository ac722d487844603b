# answer: ['item 1', 'item 2', 'item 3']
# calls at once: 3
# monty lacks: plain functions that are suspended at a call
import asyncio

items = await asyncio.gather(*map(lambda n: get_item(id=n), [1, 2, 3]))
print([item["name"] for item in items])
