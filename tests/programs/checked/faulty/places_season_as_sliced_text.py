# tools: places
# expect: wrong-argument-type line 8
# fault: The season is cut out of first_time as text, and list_season_storms takes it as an integer.
active = list_active_storms(date="1995-08-30")
seasons = sorted({get_storm(storm_id=s)["first_time"][:4] for s in active})
summary = {}
for season in seasons:
    names = [s["name"] for s in list_season_storms(season=season)]
    summary[season] = (len(names), names[-1] if names else "-")

for season, (count, last) in summary.items():
    print(f"{season}: {count} storms, the last was {last}")
if not summary:
    print("No storm was active on that day.")
