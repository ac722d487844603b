# tools: places
# kind: async gather
# expect: missing-key line 9
import asyncio


async def main(ids):
    cities = [await asyncio.to_thread(get_city, city_id=i) for i in ids]
    return max(cities, key=lambda c: c["inhabitants"])


print(asyncio.run(main(["ci_a2b3c", "ci_d4e5f"])))
