# tools: places
# expect: not-an-object line 19
# fault: get_distance returns the distance itself as a float; the cached float is subscripted with "distance_km".
from itertools import combinations

ids = {}
for name in ["Lisbon", "Warsaw", "Athens", "Oslo"]:
    match search_cities(query=name, limit=1):
        case [city]:
            ids[name] = city["city_id"]
        case _:
            print("not found:", name)

cache = {}
for a, b in combinations(sorted(ids), 2):
    cache[a, b] = get_distance(from_place_id=ids[a], to_place_id=ids[b])

if cache:
    far = max(cache, key=lambda pair: cache[pair]["distance_km"])
    print("Farthest apart:", " and ".join(far))
