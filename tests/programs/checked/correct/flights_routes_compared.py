# tools: flights
# expect: none
from functools import lru_cache
from itertools import combinations


@lru_cache(maxsize=None)
def airport_name(code):
    return get_airport(airport=code)["name"]


served = {origin: frozenset(list_destinations(origin=origin)) for origin in ("EWR", "JFK", "LGA")}
common = frozenset.intersection(*served.values())
only = {o: sorted(d - set().union(*(v for k, v in served.items() if k != o))) for o, d in served.items()}

for a, b in combinations(sorted(served), 2):
    print(f"{a}/{b}: {len(served[a] & served[b])} shared")
farthest = max(common, key=lambda code: get_route(origin="EWR", destination=code)["distance_miles"])
print("farthest of the common ones:", airport_name(farthest))
print({o: len(codes) for o, codes in only.items()}, airport_name(only["LGA"][0]) if only["LGA"] else "-")
