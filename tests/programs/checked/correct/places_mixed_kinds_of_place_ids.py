# tools: places
# expect: none
# why: ids of cities, airfields and observations are mixed in one list; get_distance takes all three kinds.
from itertools import combinations

places: list[tuple[str, str]] = []
places += [(c["city_id"], c["name"]) for c in search_cities(query="Miami", limit=1)]
places += [(a["airfield_id"], a["name"]) for a in search_airfields(query="KMIA", limit=1)]
for storm in search_storms(query="Irma", season=2017, limit=1):
    last = get_storm(storm_id=storm["storm_id"])
    places.append((last["last_observation_id"], f"the end of {last['name']} on {last['last_time'].partition('T')[0]}"))

for (id_a, name_a), (id_b, name_b) in combinations(places, 2):
    km = get_distance(from_place_id=id_a, to_place_id=id_b)
    print(f"{name_a} to {name_b}: {km:,.1f} km = {km / 1.852:,.1f} nmi")
if len(places) < 2:
    print("Too few places")
