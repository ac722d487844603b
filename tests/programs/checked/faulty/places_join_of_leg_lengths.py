# tools: places
# expect: wrong-operand line 17
# fault: legs holds the floats that get_distance returns, and str.join takes texts only.
from itertools import pairwise

ROUTE = ["Tokyo", "Seoul", "Beijing", "Ulaanbaatar"]
stops = []
for name in ROUTE:
    if found := search_cities(query=name, limit=1):
        stops.append(found[0])

legs = [
    get_distance(from_place_id=a["city_id"], to_place_id=b["city_id"])
    for a, b in pairwise(stops)
]
print("Route:", " - ".join(s["name"] for s in stops))
print("Legs in km:", " + ".join(legs), "=", round(sum(legs), 1))
