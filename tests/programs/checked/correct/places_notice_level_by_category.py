# tools: places
# expect: none
# why: category may be null, so it is filtered and max() has a default; level is taken out of a tuple by an index that is always 0, 1 or 2.
LEVELS = ("watch", "warning", "emergency")
cities = search_cities(query="New Orleans", limit=1)
if not cities:
    raise SystemExit("New Orleans not found")
city = get_city(city_id=cities[0]["city_id"])
page = list_storms_near(
    latitude=city["latitude"],
    longitude=city["longitude"],
    radius_km=min(2 * 200, 300),
    first_season=2021,
    last_season=2021,
)
readings = [get_observation(observation_id=s["observation_id"]) for s in page["storms"]]
worst = max((r["category"] for r in readings if r["category"] is not None), default=0)
level = LEVELS[min(max(worst, 0) // 2, len(LEVELS) - 1)]
if readings:
    strongest = max(readings, key=lambda r: (r["category"] or 0, r["wind_kt"]))
    notice = create_city_notice(
        city_id=city["city_id"], observation_id=strongest["observation_id"], level=level
    )
    print(f"{notice['level'].upper()} sent for {strongest['time'].replace('T', ' ')} UTC")
else:
    print("No storm came near.")
