# tools: baseball
# expect: none
rounds = {}
for season in range(1996, 2001):
    for item in list_postseason_series(season=season):
        rounds.setdefault(item["round"], {})[season] = item["series_id"]

final = max(rounds, key=lambda r: (len(rounds[r]), r.startswith("W"), r))
names, tally = {}, {}
for season, series_id in sorted(rounds[final].items()):
    series = get_postseason_series(series_id=series_id)
    pair = [series[f"{side}_team_id"] for side in ("winner", "loser")]
    for team_id in pair:
        if team_id not in names:
            names[team_id] = get_team(team_id=team_id)["name"]
    winner, loser = (names[t] for t in pair)
    tally[winner] = tally.get(winner, 0) + 1
    print(f"{season}: {winner} beat {loser} {series['wins']}:{series['losses']}")
print(final, "->", " / ".join(f"{k} {v}" for k, v in tally.items()))
