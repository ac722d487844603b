# tools: places
# expect: bad-literal line 20
# fault: grade() can give "advisory", which create_city_notice does not know as level (watch, warning, emergency).
def grade(wind):
    if wind >= 96:
        return "emergency"
    if wind >= 64:
        return "warning"
    return "watch" if wind >= 34 else "advisory"


sent = 0
for alert in list_storm_alerts():
    city = get_city(city_id=alert["city_id"])
    near = list_storms_near(latitude=city["latitude"], longitude=city["longitude"],
                            radius_km=min(alert["radius_km"], 300), first_season=2022)
    for passage in near["storms"]:
        obs = get_observation(observation_id=passage["observation_id"])
        create_city_notice(city_id=alert["city_id"], observation_id=obs["observation_id"],
                           level=grade(obs["wind_kt"]))
        sent += 1
print(sent, "notices sent")
