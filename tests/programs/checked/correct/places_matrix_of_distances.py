# tools: places
# expect: none
from itertools import combinations
import math

names = ["Oslo", "Stockholm", "Helsinki"]
ids = {n: search_cities(query=n, limit=1)[0]["city_id"] for n in names}
distance = {
    frozenset(pair): get_distance(from_place_id=ids[pair[0]], to_place_id=ids[pair[1]])
    for pair in combinations(names, 2)
}
shortest = min(distance, key=distance.__getitem__)
a, b = sorted(shortest)
print(f"{a}-{b}: {math.ceil(distance[shortest])} km; tour {sum(distance.values()):.0f} km")
