# tools: places
# expect: none
# why: the enum value is chosen from a tuple by bisect, whose index is always 0 to 2 for the two limits.
from bisect import bisect_right

LEVELS = "watch", "warning", "emergency"
LIMITS = [64, 96]

city = next(iter(search_cities(query="New Orleans", limit=1)), None)
storm = next(iter(search_storms(query="Ida", season=2021)), None)
if city and storm:
    track = list_storm_track(storm_id=storm["storm_id"], page_size=100)["observations"]
    worst = max(track, key=lambda o: o["wind_kt"], default=None)
    if worst is not None:
        notice = create_city_notice(
            city_id=city["city_id"],
            observation_id=worst["observation_id"],
            level=LEVELS[bisect_right(LIMITS, worst["wind_kt"])],
        )
        print("Sent a", notice["level"], "for", worst["time"].replace("T", " "), "UTC")
    else:
        print("No observations")
else:
    print("City or storm not found")
