# tools: baseball
# expect: wrong-argument-type line 9
# fault: iterating LEAGUES gives its keys "American" and "National", which are passed as league, whose enum knows AL, NL, AA, FL, NA, PL and UA only.
LEAGUES = {"American": "AL", "National": "NL"}

best = {}
for league in LEAGUES:
    top = None
    for entry in list_season_teams(season=1998, league=league):
        team = get_team(team_id=entry["team_id"])
        if top is None or team["wins"] > top["wins"]:
            top = team
    best[league] = top

for league, team in best.items():
    if team is None:
        print(f"{league} League: no teams")
    else:
        print(f"{league} League: {team['name']} ({team['wins']}-{team['losses']})")
