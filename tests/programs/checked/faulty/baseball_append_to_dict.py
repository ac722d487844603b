# tools: baseball
# kind: list method on a dict accumulator
# expect: no-attribute line 9
result = {}
for team in list_season_teams(season=1955, league="NL"):
    parks = list_team_parks(team_id=team["team_id"])
    for park in parks:
        details = get_park(park_id=park["park_id"])
        result.append({"team": team["name"], "park": details["name"]})
print(len(result))
