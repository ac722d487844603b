# tools: places
# kind: abbreviated argument names
# expect: missing-argument line 8
# expect: unknown-argument line 8
# expect: unknown-argument line 8
lisbon = search_cities(query="Lisbon", limit=1)[0]
city = get_city(city_id=lisbon["city_id"])
near = list_airfields_near(lat=city["latitude"], lon=city["longitude"], radius_km=40, codes="iata")
for field in near["airfields"]:
    print(get_airfield(airfield_id=field["airfield_id"])["name"], field["distance_km"])
