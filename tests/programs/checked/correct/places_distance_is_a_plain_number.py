# tools: places
# expect: none
# why: get_distance gives the number itself, not an object, so it is compared, formatted and put into tuples directly.
from itertools import combinations, pairwise

names = ("Lisbon", "Madrid", "Paris", "Berlin")
places = {}
for name in names:
    match search_cities(query=name, limit=1):
        case [{"city_id": city_id}, *_]:
            places[name] = city_id
        case []:
            print(f"{name} not found")

pairs = [
    (get_distance(from_place_id=places[a], to_place_id=places[b]), a, b)
    for a, b in combinations(places, 2)
]
if pairs:
    (shortest, a, b), (longest, c, d) = min(pairs), max(pairs)
    print(f"{a}-{b} {shortest:.0f} km, {c}-{d} {longest:.0f} km")
legs = [get_distance(from_place_id=p, to_place_id=q) for p, q in pairwise(places.values())]
print(f"the whole way: {sum(legs):,.1f} km")
