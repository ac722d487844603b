# tools: flights
# kind: async gather
# expect: unknown-argument line 10
import asyncio


async def main():
    first, second = await asyncio.gather(
        asyncio.to_thread(get_airport, airport="BOS"),
        asyncio.to_thread(get_airport, code="DEN"),
    )
    print(first["name"], second["name"])


asyncio.run(main())
