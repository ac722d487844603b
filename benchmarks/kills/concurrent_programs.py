"""Programs whose calls run side by side, among them writes, for tests that kill their host."""

from __future__ import annotations

_BODY = """
import asyncio
from concurrent.futures import ThreadPoolExecutor, as_completed

def report(flight):
    made = add_note(flight=flight, note="late")
    return [made["flight"], len(list_notes(flight=flight)["notes"]), made["note"]]

async def report_later(flight):
    await asyncio.sleep(0)
    made = await add_note(flight=flight, note="late")
    found, _ = await asyncio.gather(list_notes(flight=flight), list_notes(flight="f9"))
    return [made["flight"], len(found["notes"]), made["note"]]

flights = ["f0", "f1", "f2"]
"""
_ENDS = {
    "gather": "print(sorted(await asyncio.gather(*map(report_later, flights))))",
    "task group": (
        "async with asyncio.TaskGroup() as group:\n"
        "    tasks = [group.create_task(report_later(one)) for one in flights]\n"
        "print(sorted(task.result() for task in tasks))"
    ),
    "as completed": (
        "print(sorted([await one for one in asyncio.as_completed(map(report_later, flights))]))"
    ),
    "plain calls": "print(sorted(await asyncio.gather(*[report(one) for one in flights])))",
    "threads": (
        "print(sorted(await asyncio.gather(*[asyncio.to_thread(report, f) for f in flights])))"
    ),
    "thread pool": (
        "with ThreadPoolExecutor(2) as pool:\n"
        "    futures = [pool.submit(report, one) for one in flights]\n"
        "print(sorted(future.result() for future in as_completed(futures)))"
    ),
}
CONCURRENT_PROGRAMS = {name: _BODY + end for name, end in _ENDS.items()}
"""Programs that add a note to each of `FLIGHTS`, keyed by how their calls are made."""
FLIGHTS = ("f0", "f1", "f2")
ANSWER = "[['f0', 1, 'late'], ['f1', 1, 'late'], ['f2', 1, 'late']]"
"""What each of the programs prints, if its writes are made once."""
