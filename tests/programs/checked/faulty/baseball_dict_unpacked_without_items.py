# tools: baseball
# kind: dict of a helper unpacked as pairs
# expect: wrong-unpacking line 14
def wins_by_team(season, league):
    wins = {}
    for team in list_season_teams(season=season, league=league):
        details = get_team(team_id=team["team_id"])
        wins[details["team_id"]] = details["wins"]
    return wins


def champion(season):
    best_id, best = None, -1
    for team_id, wins in wins_by_team(season, "NL"):
        if wins > best:
            best_id, best = team_id, wins
    return get_team(team_id=best_id)["name"], best


for season in (1954, 1955):
    name, wins = champion(season)
    print(f"{season}: {name} with {wins} wins")
