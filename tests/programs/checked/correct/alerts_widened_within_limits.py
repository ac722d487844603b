# tools: places
# expect: none
# why: the new radius is clamped by min and max into the allowed range, and arguments are added to a dict only where they are wanted
changed = []
for alert in list_storm_alerts():
    city = get_city(city_id=alert["city_id"])
    wishes = {}
    if city["population"] > 1_000_000:
        wishes["radius_km"] = min(1000, max(10, alert["radius_km"] * 2))
    if alert["min_wind_kt"] > 64:
        wishes["min_wind_kt"] = 64
    if not wishes:
        continue
    before = {key: alert[key] for key in wishes}
    after = update_storm_alert(alert_id=alert["alert_id"], **wishes)
    changed.append((city["name"], [f"{k}: {before[k]} -> {after[k]}" for k in before]))

for name, notes in sorted(changed):
    print(name, *notes, sep=" | ")
print(len(changed), "alerts changed")
