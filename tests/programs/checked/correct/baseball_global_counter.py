# tools: baseball
# expect: none
calls = 0
best = None


def look(team_id):
    global calls, best
    calls += 1
    stats = get_team_statistics(team_id=team_id)
    if best is None or stats["home_runs"] > best["home_runs"]:
        best = stats


for team in list_season_teams(season=2019, league="AL"):
    look(team["team_id"])
print(calls, best["home_runs"] if best else None, best and best["team_id"])
