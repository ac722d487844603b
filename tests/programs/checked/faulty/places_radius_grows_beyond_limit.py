# tools: places
# expect: bad-literal line 12
# fault: radius_km is 300 at most, and the third factor makes it 450.
BASE_KM = 150
found = search_airfields(query="KMSY", limit=1)
rows = []
if found:
    field = get_airfield(airfield_id=found[0]["airfield_id"])
    lat, lon = field["latitude"], field["longitude"]
    for factor in (1, 2, 3):
        radius = BASE_KM * factor
        near = list_cities_near(latitude=lat, longitude=lon, radius_km=radius, min_population=100_000)
        rows.append((radius, near["total"]))
for radius, total in rows:
    print(f"within {radius} km: {total} cities")
if not rows:
    print("airfield not found")
