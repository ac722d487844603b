# tools: flights
# kind: async gather
# expect: missing-key line 9
import asyncio

readings = await asyncio.gather(
    *(asyncio.to_thread(get_weather, airport=a, date="2013-01-01", hour=12) for a in ("EWR", "JFK", "LGA"))
)
print([reading["temperature"] for reading in readings])
