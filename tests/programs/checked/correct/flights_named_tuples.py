# tools: flights
# expect: none
from typing import NamedTuple


class Leg(NamedTuple):
    origin: str
    destination: str
    miles: int = 0

    def __str__(self):
        return f"{self.origin}-{self.destination}"


legs = []
for destination in ("LAX", "SFO", "SEA"):
    route = get_route(origin="JFK", destination=destination)
    legs.append(Leg(route["origin"], route["destination"], miles=route["distance_miles"]))
longest = max(legs, key=lambda leg: leg.miles)
origin, destination, miles = longest
print(str(longest), origin, destination.lower(), miles * 1.609, longest._asdict(), longest[2], sorted(legs)[0])
