# answer: {'a': 'item 7', 'b': 'item 8', 'c': 'item 9'}
# calls at once: 3
import asyncio

calls = {"a": get_item(id=7), "b": get_item(id=8), "c": get_item(id=9)}
values = await asyncio.gather(*calls.values())
results = dict(zip(calls.keys(), values))
print({key: item["name"] for key, item in results.items()})
