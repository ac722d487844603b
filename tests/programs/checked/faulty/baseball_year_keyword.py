# tools: baseball
# kind: argument called season is given as year
# expect: unknown-argument line 6
def standings(season, league):
    table = []
    for entry in list_season_teams(year=season, league=league):
        team = get_team(team_id=entry["team_id"])
        pct = team["wins"] / team["games"] if team["games"] else 0.0
        table.append({"name": team["name"], "division": team["division"] or "-", "pct": pct})
    return sorted(table, key=lambda t: (t["division"], -t["pct"]))


for league in ("AL", "NL"):
    print(f"== {league} 1998 ==")
    last = None
    for team in standings(1998, league):
        if team["division"] != last:
            last = team["division"]
            print(f"[{last}]")
        print(f"  {team['name']:<24}{team['pct']:.3f}")
