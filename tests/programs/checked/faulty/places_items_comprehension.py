# tools: places
# kind: comprehensions
# expect: missing-key line 5
storms = {s["storm_id"]: get_storm(storm_id=s["storm_id"]) for s in list_season_storms(season=2005)}
print({storm_id: storm["max_wind_kt"] for storm_id, storm in storms.items()})
