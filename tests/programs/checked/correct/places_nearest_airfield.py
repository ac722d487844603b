# tools: places
# expect: none
city = search_cities(query="Innsbruck", limit=1)[0]
here = get_city(city_id=city["city_id"])
where = {k: here[k] for k in ("latitude", "longitude")}
near = list_airfields_near(**where, radius_km=60, codes="iata")
print(near["total"])
for item in near["airfields"][:3]:
    field = get_airfield(airfield_id=item["airfield_id"])
    code = field["iata"] or field["icao"]
    print(code, field["municipality"] or "?", round(item["distance_km"]), f"{field['elevation_ft'] * 0.3048:.0f} m")
