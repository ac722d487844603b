# tools: places
# kind: id of the wrong kind passed on
# expect: wrong-argument-type line 17
from collections import OrderedDict

city = get_city(city_id=search_cities(query="New Orleans")[0]["city_id"])
passages = list_storms_near(
    latitude=city["latitude"], longitude=city["longitude"], radius_km=60.0,
    first_season=2000, last_season=2012,
)["storms"]

strongest = OrderedDict()
for passage in passages:
    reading = get_observation(observation_id=passage["observation_id"])
    if reading["status"] != "hurricane":
        continue
    storm = get_storm(storm_id=reading["observation_id"])
    key = f"{storm['name']} {storm['season']}"
    strongest[key] = max(strongest.get(key, 0), reading["wind_kt"])

for name, wind in sorted(strongest.items(), key=lambda kv: kv[1], reverse=True):
    print(f"{name}: {wind} kt")
