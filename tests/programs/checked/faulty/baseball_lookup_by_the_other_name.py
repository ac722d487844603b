# tools: baseball
# expect: missing-key line 10
NAMES = {"AL": "American", "NL": "National"}
wins = {code: 0 for code in NAMES}
for code in NAMES:
    for entry in list_season_teams(season=1998, league=code):
        team = get_team(team_id=entry["team_id"])
        wins[code] += team["wins"]
for name in NAMES.values():
    print(name, wins[name])
