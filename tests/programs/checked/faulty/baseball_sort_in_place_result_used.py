# tools: baseball
# expect: none-value line 9
# fault: list.sort sorts in place and returns None, so the slice ranking[:5] fails on None.
teams = [get_team(team_id=t["team_id"]) for t in list_season_teams(season=1993)]
known = [t for t in teams if t["attendance"] is not None]
ranking = known.sort(key=lambda t: t["attendance"], reverse=True)

print("Best attended teams of 1993")
for team in ranking[:5]:
    mark = "*" if team["world_series_winner"] else " "
    print(f"{mark} {team['name']:<28} {team['attendance']:>10,}")
