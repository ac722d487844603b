# tools: places
# kind: radius beyond the range
# expect: bad-literal line 8
miami = get_city(city_id=search_cities(query="Miami", limit=1)[0]["city_id"])
point = {"latitude": miami["latitude"], "longitude": miami["longitude"]}
seen = set()
for season in range(1990, 1996):
    page = list_storms_near(**point, radius_km=500, first_season=season, last_season=season)
    seen |= {s["storm_id"] for s in page["storms"]}
print(len(seen))
