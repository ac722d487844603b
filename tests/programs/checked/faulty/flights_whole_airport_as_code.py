# tools: flights
# kind: whole search result passed as code
# expect: wrong-argument-type line 15
from math import asin, cos, radians, sin, sqrt


def haversine(a, b):
    lat1, lon1, lat2, lon2 = map(radians, (a["latitude"], a["longitude"], b["latitude"], b["longitude"]))
    h = sin((lat2 - lat1) / 2) ** 2 + cos(lat1) * cos(lat2) * sin((lon2 - lon1) / 2) ** 2
    return 2 * 6371 * asin(sqrt(h))


hits = search_airports(query="Denver", limit=5)
home = hits[0]
around = list_nearby_airports(airport=home, radius_km=60)
centre = get_airport(airport=home["code"])
for near in around[:5]:
    other = get_airport(airport=near["code"])
    print(f"{other['name']}: {haversine(centre, other):.0f} km (listed {near['distance_km']:.0f})")
