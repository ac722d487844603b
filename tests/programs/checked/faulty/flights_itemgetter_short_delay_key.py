# tools: flights
# expect: missing-key line 17
# fault: list_departure_delays gives departure_delay_minutes; there is no key delay_minutes in its (closed) items, so itemgetter raises KeyError.
from operator import itemgetter

DATE = "2013-07-10"
late = []
for origin in ("EWR", "JFK", "LGA"):
    page = 1
    while True:
        res = list_departure_delays(origin=origin, date=DATE, min_delay_minutes=90, page=page, page_size=200)
        late += [{**f, "origin": origin} for f in res["flights"]]
        if page >= res["pages"]:
            break
        page += 1

worst = sorted(late, key=itemgetter("delay_minutes"), reverse=True)[:3]
for entry in worst:
    flight = get_flight(flight_id=entry["flight_id"])
    print(f'{flight["airline"]}{flight["flight_number"]} from {entry["origin"]} to {flight["destination"]}')
if not worst:
    print("No flight left 90 minutes late or more.")
