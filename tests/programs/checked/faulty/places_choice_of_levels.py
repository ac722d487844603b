# tools: places
# expect: bad-literal line 6
# says: may be
for alert in list_storm_alerts():
    wide = alert["radius_km"]
    create_city_notice(city_id=alert["city_id"], observation_id="ob_aaaaa", level="watch" if wide < 100 else "severe")
print("done")
