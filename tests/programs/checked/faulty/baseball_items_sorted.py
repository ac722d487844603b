# tools: baseball
# kind: sorted(key=…)
# expect: missing-key line 5
records = {t["name"]: get_team(team_id=t["team_id"]) for t in list_season_teams(season=1975, league="NL")}
for name, team in sorted(records.items(), key=lambda item: item[1]["total_wins"], reverse=True):
    print(name, team["wins"])
