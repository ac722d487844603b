# tools: flights
# kind: async gather
# expect: missing-key line 9
import asyncio

async with asyncio.TaskGroup() as group:
    here = group.create_task(asyncio.to_thread(get_airport, airport="JFK"))
    there = group.create_task(asyncio.to_thread(get_airport, airport="LAX"))
print(here.result()["name"], there.result()["elevation"])
