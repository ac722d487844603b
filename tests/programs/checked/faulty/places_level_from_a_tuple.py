# tools: places
# kind: enum
# expect: wrong-argument-type line 6
storm = get_storm(storm_id="st_a2b3c")
for level in ("danger", "alarm"):
    notice = create_city_notice(city_id="ci_a2b3c", observation_id=storm["last_observation_id"], level=level)
    print(notice["notice_id"])
