# answer: [20, 21, 22]
# calls at once: 3
import asyncio

page = await list_items(page=2)
ids = [row["id"] for row in page[:3]]
details = await asyncio.gather(*[get_item(id=n) for n in ids])
sorted(item["id"] for item in details)
