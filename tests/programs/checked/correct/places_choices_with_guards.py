# tools: places
# expect: none
def grade(wind):
    if wind >= 96:
        return "emergency"
    return "warning" if wind >= 64 else "none"


sent = 0
for alert in list_storm_alerts():
    city = get_city(city_id=alert["city_id"])
    near = list_storms_near(latitude=city["latitude"], longitude=city["longitude"], radius_km=200, first_season=2022)
    for passage in near["storms"]:
        obs = get_observation(observation_id=passage["observation_id"])
        level = grade(obs["wind_kt"])
        if level == "none":
            continue
        create_city_notice(city_id=alert["city_id"], observation_id=obs["observation_id"], level=level)
        if obs["wind_kt"] >= 64:
            create_city_notice(
                city_id=alert["city_id"], observation_id=obs["observation_id"], level=grade(obs["wind_kt"])
            )
        sent += 1
for factor in (1, 2, 3):
    radius = min(150 * factor, 300)
    print(len(list_cities_near(latitude=30, longitude=-90, radius_km=radius)["cities"]))
steps = {"near": 50, "far": 300, "everywhere": 20000}
for name, radius in steps.items():
    if name != "everywhere":
        print(name, list_cities_near(latitude=30, longitude=-90, radius_km=radius)["total"])
print(sent)
