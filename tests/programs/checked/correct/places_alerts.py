# tools: places
# expect: none
alerts = list_storm_alerts()
strict = [a for a in alerts if a["min_wind_kt"] > 64 and a["radius_km"] < 200]
changed = [update_storm_alert(alert_id=a["alert_id"], min_wind_kt=max(64, a["min_wind_kt"] - 20)) for a in strict]
for before, after in zip(strict, changed):
    print(f"{before['alert_id']}: {before['min_wind_kt']} -> {after['min_wind_kt']}")
if not alerts:
    print(create_storm_alert(city_id="ci_a2b3c", radius_km=100, min_wind_kt=64)["alert_id"])
