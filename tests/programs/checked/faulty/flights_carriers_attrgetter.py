# tools: flights
# expect: no-attribute line 12
# fault: the airlines are dicts, which have no attribute name, so attrgetter('name') raises AttributeError
from operator import attrgetter

flown = set()
for origin in ("EWR", "JFK", "LGA"):
    if "MIA" in list_destinations(origin=origin):
        flown.update(list_route_airlines(origin=origin, destination="MIA"))

carriers = [a for a in list_airlines() if a["code"] in flown]
carriers.sort(key=attrgetter("name"))
print("Airlines to Miami:", ", ".join(a["name"] for a in carriers))
