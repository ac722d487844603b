# answer: {1: 1.5, 2: 3.0, 3: 4.5}
# calls at once: 3
import asyncio

ids = [1, 2, 3]
results = []
for number in ids:
    results.append(get_item(id=number))
results = await asyncio.gather(*results)
print({number: item["price"] for number, item in zip(ids, results)})
