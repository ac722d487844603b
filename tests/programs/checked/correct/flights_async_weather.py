# tools: flights
# expect: none
import asyncio


async def weather(airport, hour):
    return airport, await asyncio.to_thread(get_weather, airport=airport, date="2013-12-14", hour=hour)


async def main():
    results = await asyncio.gather(*[weather(a, 8) for a in ("EWR", "JFK", "LGA")], return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            continue
        airport, reading = result
        gust = reading["wind_gust_mph"]
        print(airport, "no gusts" if gust is None else f"gusts of {gust:.0f} mph")


asyncio.run(main())
