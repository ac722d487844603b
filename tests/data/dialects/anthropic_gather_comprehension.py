# answer: ['item 0', 'item 1', 'item 2', 'item 3', 'item 4', 'item 5']
# calls at once: 6
import asyncio

ids = range(6)
results = await asyncio.gather(*[get_item(id=i) for i in ids])
print([result["name"] for result in results])
