# tools: baseball
# expect: none
teams = [get_team(team_id=t["team_id"]) for t in list_season_teams(season=1927, league="AL")]
teams.sort(key=lambda t: (t["rank"], -t["wins"]))
width = max(len(t["name"]) for t in teams)
for t in teams:
    flag = "*" if t["league_champion"] else " "
    print(f"{t['rank']}. {t['name']:<{width}} {t['wins']}-{t['losses']} {t['wins'] / t['games']:.3f}{flag}")
