# tools: places
# expect: missing-key line 18
# fault: cities near a point carry only city_id and distance_km; after the regrouping into bands the f-string reads c['name'], which raises KeyError
from collections import defaultdict

paris = search_cities(query="Paris", limit=1)
bands = defaultdict(list)
if paris:
    here = get_city(city_id=paris[0]["city_id"])
    near = list_cities_near(
        latitude=here["latitude"], longitude=here["longitude"], radius_km=60, min_population=60000
    )
    for c in near["cities"]:
        bands[int(c["distance_km"] // 10)].append(c)

for band in sorted(bands):
    members = bands[band]
    print(f"{band * 10}-{band * 10 + 9} km: {', '.join(c['name'] for c in members)}")
