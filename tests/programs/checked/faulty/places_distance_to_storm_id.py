# tools: places
# expect: wrong-argument-type line 17
# fault: get_distance takes ids of cities, airfields or observations; the closest passage is kept by its storm_id, whose prefix st_ never fits.
cities = search_cities(query="Miami", limit=1)
if not cities:
    print("Miami not found")
else:
    miami = get_city(city_id=cities[0]["city_id"])
    page = list_storms_near(
        latitude=miami["latitude"], longitude=miami["longitude"], radius_km=200, first_season=2010
    )
    passages = {p["storm_id"]: p["distance_km"] for p in page["storms"]}
    closest = min(passages, key=passages.get, default=None)
    if closest is None:
        print("No storm came near.")
    else:
        km = get_distance(from_place_id=miami["city_id"], to_place_id=closest)
        print(f"{get_storm(storm_id=closest)['name']} passed at {km:.1f} km.")
