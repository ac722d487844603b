# tools: flights
# expect: none
import asyncio


async def status(flight_id, limit):
    async with limit:
        return flight_id, await asyncio.to_thread(get_flight_status, flight_id=flight_id)


async def main():
    limit = asyncio.Semaphore(5)
    ids = [f["flight_id"] for f in list_cancelled_flights(date="2013-02-08", origin="JFK")["flights"]]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(status(i, limit)) for i in ids]
    results = dict(task.result() for task in tasks)
    print(len(results), {r["status"] for r in results.values()})
    for done in asyncio.as_completed([status(i, limit) for i in ids[:2]]):
        flight_id, result = await done
        print(flight_id, result["status"])


asyncio.run(main())
