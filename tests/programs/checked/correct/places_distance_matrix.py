# tools: places
# expect: none
from itertools import combinations

ids = [c["city_id"] for name in ("Berlin", "Hamburg", "Munich") for c in search_cities(query=name, limit=1)]
far = {(a, b): get_distance(from_place_id=a, to_place_id=b) for a, b in combinations(ids, 2)}
(a, b), distance = max(far.items(), key=lambda item: item[1])
print(get_city(city_id=a)["name"], get_city(city_id=b)["name"], f"{distance:.1f} km")
print(sum(far.values()) / len(far))
