# tools: places
# expect: none
zones = {}
for zone in list_country_time_zones(country_id="co_a2b3c"):
    page = list_cities_in_time_zone(time_zone_id=zone["time_zone_id"], min_population=500_000)
    zones[zone["name"]] = page["total"]
most = max(zones, key=zones.get) if zones else None
print(most, zones.get(most, 0))
region, _, place = (most or "UTC").partition("/")
print(place.replace("_", " ") or region)
