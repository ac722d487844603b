# tools: flights
# kind: async gather
# expect: missing-key line 9
import asyncio


async def fetch(code):
    airport = await asyncio.to_thread(get_airport, airport=code)
    return {"code": code, "zone": airport["timezone"]}


async def main():
    print(await asyncio.gather(*map(fetch, ["JFK", "BOS"])))


asyncio.run(main())
