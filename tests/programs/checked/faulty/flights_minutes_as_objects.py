# tools: flights
# kind: grouped numbers read as objects
# expect: not-an-object line 18
from collections import defaultdict
from statistics import mean

delays = defaultdict(list)
for day in ("2013-04-01", "2013-04-02"):
    page = list_departures(origin="JFK", date=day, airline="B6", from_hour=6, to_hour=7, page_size=10)
    for flight in page["flights"]:
        status = get_flight_status(flight_id=flight["flight_id"])
        minutes = status["departure_delay_minutes"]
        if minutes is not None:
            delays[flight["destination"]].append(minutes)

averages = {}
for destination, entries in delays.items():
    averages[destination] = mean(e["departure_delay_minutes"] for e in entries)
worst = max(averages, key=averages.get)
print(f"{worst}: {averages[worst]:.1f} minutes")
