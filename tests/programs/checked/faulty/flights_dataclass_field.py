# tools: flights
# kind: field of own dataclass mis-remembered
# expect: no-attribute line 26
from dataclasses import dataclass


@dataclass(order=True)
class Leg:
    departs: str
    number: str
    destination: str
    miles: int = 0


def legs_of(tail_number, day):
    page = list_plane_flights(tail_number=tail_number, start_date=day, end_date=day)
    for f in page["flights"]:
        route = get_route(origin=f["origin"], destination=f["destination"])
        yield Leg(f["scheduled_departure"], f"{f['airline']}{f['flight_number']}", f["destination"], route["distance_miles"])


tail = next(f["tail_number"] for f in list_departures(origin="JFK", date="2013-05-02")["flights"] if f["tail_number"])
legs = sorted(legs_of(tail, "2013-05-02"))
print(tail, "flew", sum(leg.miles for leg in legs), "miles:")
for leg in legs:
    print(f"  {leg.departs} {leg.number} -> {leg.dest}")
