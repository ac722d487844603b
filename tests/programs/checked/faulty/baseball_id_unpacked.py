# tools: baseball
# expect: wrong-unpacking line 4
teams = {t["team_id"]: t["name"] for t in list_season_teams(season=2003, league="NL")}
for team_id, name in teams:
    print(team_id, name)
