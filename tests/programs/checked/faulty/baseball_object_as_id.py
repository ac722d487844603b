# tools: baseball
# kind: whole object handed on instead of its id
# expect: wrong-argument-type line 8
winners = []
for year in range(1970, 1975):
    for series in list_postseason_series(season=year):
        if series["round"] == "WS":
            detail = get_postseason_series(series_id=series)
            winners.append(get_team(team_id=detail["winner_team_id"])["name"])
print(winners)
