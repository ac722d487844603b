# tools: places
# expect: not-an-object line 16
# fault: get_distance returns the number itself, so indexing it with ["distance_km"] (in leg, used by the sum) raises TypeError
from itertools import pairwise


def city_id(name):
    found = search_cities(query=name, limit=1)
    if not found:
        raise SystemExit(f"no city {name}")
    return found[0]["city_id"]


def leg(a, b):
    answer = get_distance(from_place_id=a, to_place_id=b)
    return answer["distance_km"]


route = [city_id(n) for n in ("Lisbon", "Madrid", "Lyon", "Turin")]
total = sum(leg(a, b) for a, b in pairwise(route))
print(f"{total:.0f} km in {len(route) - 1} legs")
