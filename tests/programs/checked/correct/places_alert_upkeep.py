# tools: places
# expect: none
def ensure_alert(name, radius, wind):
    city_id = search_cities(query=name, limit=1)[0]["city_id"]
    alerts = {a["city_id"]: a for a in list_storm_alerts()}
    if (alert := alerts.get(city_id)) is None:
        return create_storm_alert(city_id=city_id, radius_km=radius, min_wind_kt=wind), "created"
    changes = {k: v for k, v in (("radius_km", radius), ("min_wind_kt", wind)) if alert[k] != v}
    if not changes:
        return alert, "kept"
    return update_storm_alert(alert_id=alert["alert_id"], **changes), "changed: " + ", ".join(changes)


for args in [("Bermuda", None, None), ("Kingston", 300, 64), ("Nassau", 250, 50)]:
    name, *numbers = args
    if None in numbers:
        print(name, "skipped")
        continue
    radius, wind = numbers
    alert, what = ensure_alert(name, radius, wind)
    print(name, what, f"{alert['radius_km']} km / {alert['min_wind_kt']} kt")
