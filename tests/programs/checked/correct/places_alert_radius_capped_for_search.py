# tools: places
# expect: none
# why: the radius of an alert may exceed the 300 km that list_storms_near allows and the converted wind is a float, but both are capped and rounded before they are passed.
import math

done = []
for alert in list_storm_alerts():
    city = get_city(city_id=alert["city_id"])
    page = list_storms_near(
        latitude=city["latitude"],
        longitude=city["longitude"],
        radius_km=max(1, min(300, alert["radius_km"])),
        first_season=2000,
        page_size=100,
    )
    winds = [get_observation(observation_id=s["observation_id"])["wind_kt"] for s in page["storms"]]
    if winds and max(winds) < alert["min_wind_kt"]:
        lower = min(160, max(20, math.floor(sum(winds) / len(winds))))
        done.append(update_storm_alert(alert_id=alert["alert_id"], min_wind_kt=lower) | {"name": city["name"]})

print(*(f"{d['name']}: now {d['min_wind_kt']} kt" for d in done), sep="\n")
print(f"{len(done)} alerts changed")
