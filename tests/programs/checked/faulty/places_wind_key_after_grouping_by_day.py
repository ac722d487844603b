# tools: places
# expect: missing-key line 19
# fault: The points of a track have the key wind_kt; after the grouping by day they are asked for "wind".
from collections import defaultdict

by_day = defaultdict(list)
matches = search_storms(query="Sandy", season=2012)
if matches:
    storm_id = matches[0]["storm_id"]
    first = list_storm_track(storm_id=storm_id, page_size=50)
    points = list(first["observations"])
    for number in range(2, first["pages"] + 1):
        points.extend(list_storm_track(storm_id=storm_id, page=number, page_size=50)["observations"])
    for point in points:
        day, _, hour = point["time"].partition("T")
        by_day[day].append({**point, "hour": int(hour[:2])})

for day, entries in sorted(by_day.items()):
    peak = max(entries, key=lambda e: (e["wind"], e["hour"]))
    print(f"{day}: {peak['wind_kt']} kt at {peak['hour']:02d} UTC")
if not by_day:
    print("No track found")
