# answer: {'total': 9.0, 'names': ['item 1', 'item 2', 'item 3']}
# calls at once: 3
import asyncio

found = await asyncio.gather(get_item(id=1), get_item(id=2), get_item(id=3))
total = sum(item["price"] for item in found)
return {"total": total, "names": [item["name"] for item in found]}
