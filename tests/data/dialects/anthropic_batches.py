# answer: [0, 1, 2, 3, 4, 5]
# calls at once: 3
import asyncio

ids = list(range(6))
seen = []
for start in range(0, len(ids), 3):
    batch = [get_item(id=n) for n in ids[start : start + 3]]
    for item in await asyncio.gather(*batch):
        seen.append(item["id"])
print(seen)
