# tools: baseball
# kind: unpacking
# expect: missing-key line 6
teams = [(t["name"], get_team(team_id=t["team_id"])) for t in list_season_teams(season=2001)]
for place, (name, team) in enumerate(sorted(teams, key=lambda pair: pair[0]), 1):
    print(place, name, team["win_percentage"])
