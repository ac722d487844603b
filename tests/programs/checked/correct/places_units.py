# tools: places
# expect: none
import math


def haversine(a, b):
    lat1, lon1, lat2, lon2 = map(math.radians, (a["latitude"], a["longitude"], b["latitude"], b["longitude"]))
    h = math.sin((lat2 - lat1) / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * 6371 * math.asin(math.sqrt(h))


one, two = (get_city(city_id=search_cities(query=name)[0]["city_id"]) for name in ("Lyon", "Turin"))
print(round(haversine(one, two)), round(get_distance(from_place_id=one["city_id"], to_place_id=two["city_id"])))
