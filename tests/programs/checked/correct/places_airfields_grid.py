# tools: places
# expect: none
import math

city = get_city(city_id=search_cities(query="Reykjav")[0]["city_id"])


def offset(lat, lon, km, bearing):
    d, b = km / 6371, math.radians(bearing)
    lat1 = math.radians(lat)
    lat2 = math.asin(math.sin(lat1) * math.cos(d) + math.cos(lat1) * math.sin(d) * math.cos(b))
    dlon = math.atan2(math.sin(b) * math.sin(d) * math.cos(lat1), math.cos(d) - math.sin(lat1) * math.sin(lat2))
    return math.degrees(lat2), lon + math.degrees(dlon)


found = {}
for bearing, label in zip(range(0, 360, 90), "NESW"):
    lat, lon = offset(city["latitude"], city["longitude"], 80, bearing)
    part = list_airfields_near(latitude=round(lat, 4), longitude=round(lon, 4), radius_km=50, codes="any", page_size=5)
    found[label] = {a["airfield_id"]: a["distance_km"] for a in part["airfields"]}

everywhere = {k for fields in found.values() for k in fields}
nearest = min(((km, label, a) for label, fields in found.items() for a, km in fields.items()), default=None)
if nearest:
    km, label, airfield_id = nearest
    field = get_airfield(airfield_id=airfield_id)
    print(f"{len(everywhere)} airfields; nearest to a corner: {field['name']} ({label}, {km} km, {field['iata'] or 'no IATA'})")
else:
    print("none")
