# tools: flights
# expect: none
# why: attribute access and indexes on a NamedTuple made from a dict's values; sorting compares tuples
from typing import NamedTuple

class Leg(NamedTuple):
    miles: int
    code: str
    origin: str = "JFK"

    @property
    def km(self):
        return self.miles * 1.609344

    def __str__(self):
        return f"{self.origin}-{self.code}: {self.km:.0f} km"

legs = [Leg(get_route(origin="JFK", destination=code)["distance_miles"], code) for code in list_destinations(origin="JFK")]
legs.sort()
for leg in (*legs[:2], *legs[-2:]):
    print(leg)
if legs:
    miles, code, *_ = max(legs)
    print("farthest", code, miles, legs[-1][0] == miles)
