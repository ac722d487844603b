# tools: baseball
# kind: zip
# expect: missing-key line 4
rows = [(t["name"], t["won"]) for t in map(lambda s: get_team(team_id=s["team_id"]), list_season_teams(season=2001))]
names, wins = zip(*rows)
print(names[0], sum(wins))
