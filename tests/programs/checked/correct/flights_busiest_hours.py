# tools: flights
# expect: none
from bisect import insort
from collections import defaultdict
from contextlib import suppress

hours = defaultdict(lambda: {"n": 0, "to": set()})
page = 1
while page is not None:
    board = list_departures(origin="LGA", date="2013-11-27", to_hour=9, page=page, page_size=100)
    for f in board["flights"]:
        slot = hours[int(f["scheduled_departure"].split(":")[0])]
        slot["n"] += 1
        slot["to"].add(f["destination"])
    page = page + 1 if page < board["pages"] else None

ranking = []
for hour, slot in hours.items():
    insort(ranking, (slot["n"], hour))

names = {}
with suppress(IndexError):
    number, hour = ranking[-1]
    for code in sorted(hours[hour]["to"])[:3]:
        names[code] = get_airport(airport=code)["name"]
    print(f"{hour:02d}:00 has {number} departures, among them to {', '.join(names.values())}")
