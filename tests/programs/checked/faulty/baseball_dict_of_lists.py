# tools: baseball
# kind: setdefault
# expect: missing-key line 8
by_league = {}
for entry in list_season_teams(season=1990):
    team = get_team(team_id=entry["team_id"])
    by_league.setdefault(team["league"], {"teams": []})["teams"].append(team)
print({league: [t["city"] for t in box["teams"]] for league, box in by_league.items()})
