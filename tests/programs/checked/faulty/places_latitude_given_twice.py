# tools: places
# expect: doubled-argument line 12
# fault: where already holds latitude, which is also passed by name, so Python raises TypeError (multiple values for latitude).
cities = search_cities(query="Reykjavik")
if not cities:
    print("Not found")
else:
    city = get_city(city_id=cities[0]["city_id"])
    where = {k: v for k, v in city.items() if k in ("latitude", "longitude")}
    counts = {}
    for codes in ("any", "iata"):
        page = list_airfields_near(**where, latitude=city["latitude"], radius_km=100, codes=codes)
        counts[codes] = page["total"]
    print(f"{counts['any']} airfields, {counts['iata']} of them with an IATA code")
