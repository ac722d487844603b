# tools: places
# kind: invented key in max
# expect: missing-key line 6
season = list_season_storms(season=2005)
storms = [get_storm(storm_id=s["storm_id"]) for s in season]
strongest = max(storms, key=lambda s: s["max_wind_kt"])
first, last = strongest["first_time"][:10], strongest["last_time"][:10]
print(f"{strongest['name']}, {first} to {last}")
