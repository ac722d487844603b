# answer: {'cheap': 'item 1', 'dear': 'item 2'}
# calls at once: 2
import asyncio

one, two = await asyncio.gather(get_item(id=1), get_item(id=2))
{"cheap": one["name"], "dear": two["name"]}
