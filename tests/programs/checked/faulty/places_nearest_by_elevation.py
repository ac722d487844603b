# tools: places
# kind: sort key of another tool, chosen by operator.itemgetter
# expect: missing-key line 8
from operator import itemgetter

quito = get_city(city_id=search_cities(query="Quito", limit=1)[0]["city_id"])
page = list_airfields_near(latitude=quito["latitude"], longitude=quito["longitude"], radius_km=100)
highest = sorted(page["airfields"], key=itemgetter("elevation_ft"), reverse=True)[:3]
for field in highest:
    print(field["airfield_id"])
