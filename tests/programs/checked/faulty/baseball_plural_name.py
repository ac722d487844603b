# tools: baseball
# kind: name written otherwise at its use
# expect: undefined-name line 9
franchise = search_franchises(query="Dodgers")[0]
seasons = list_franchise_seasons(franchise_id=franchise["franchise_id"], from_season=1947, to_season=1957)["seasons"]
team_by_season = {}
for entry in seasons:
    team_by_season[entry["season"]] = get_team(team_id=entry["team_id"])
champions = [year for year, team in teams_by_season.items() if team["world_series_winner"]]
print(champions)
