# tools: baseball
# kind: key of the program's own objects written otherwise
# expect: missing-key line 9
# expect: missing-key line 9
records = []
for team in list_season_teams(season=1998, league="NL"):
    details = get_team(team_id=team["team_id"])
    records.append({"name": team["name"], "won": details["wins"], "lost": details["losses"]})
records.sort(key=lambda r: r["wins"] / (r["wins"] + r["lost"]), reverse=True)
for place, record in enumerate(records[:3], 1):
    print(place, record["name"], record["won"])
