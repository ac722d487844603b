# tools: places
# expect: none
# why: the plan is threaded through functools.reduce, whose accumulator is the plan object itself; the nights come out of range()
from functools import reduce
from datetime import date


def find(name):
    return next((c["city_id"] for c in search_cities(query=name, limit=1)), None)


names = ["Vienna", "Bratislava", "Budapest", "Belgrade"]
ids = dict(zip(names, map(find, names)))
start, *stops = [i for i in ids.values() if i] or [None]

if start is not None and len({start, *stops}) == len(stops) + 1:
    plan = reduce(
        lambda so_far, stop: add_trip_stop(plan_id=so_far["plan_id"], city_id=stop[0], nights=stop[1]),
        zip(stops, range(2, 90)),
        create_trip_plan(start_city_id=start, start_date=date(2025, 9, 1).isoformat(), travellers=2),
    )
    back = {v: k for k, v in ids.items()}
    print(" > ".join(f"{back.get(s['city_id'], '?')} ({s['nights']})" for s in plan["stops"]))
else:
    print("a city is missing")
