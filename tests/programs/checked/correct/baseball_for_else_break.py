# tools: baseball
# expect: none
for season in range(1950, 1960):
    for series in list_postseason_series(season=season):
        full = get_postseason_series(series_id=series["series_id"])
        winner = get_team(team_id=full["winner_team_id"])
        if "Dodgers" in winner["name"]:
            break
    else:
        continue
    break
else:
    winner = None
print("never" if winner is None else f"{winner['season']}: {winner['name']} {full['wins']}-{full['losses']}")
