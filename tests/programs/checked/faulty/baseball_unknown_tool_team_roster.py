# tools: baseball
# expect: unknown-tool line 7
# fault: there is no tool list_team_roster (the tool is called list_roster), so the name is undefined.
def whole_roster(team_id):
    number = 1
    while True:
        chunk = list_team_roster(team_id=team_id, page=number, page_size=50)
        yield from chunk["players"]
        if number >= chunk["pages"]:
            return
        number += 1


for team in list_season_teams(season=1927, league="AL"):
    if "Yankees" in team["name"]:
        regulars = [p for p in whole_roster(team["team_id"]) if p["games"] >= 100]
        for p in sorted(regulars, key=lambda p: -p["games"]):
            print(get_player(player_id=p["player_id"])["name"], p["games"])
        break
else:
    print("No Yankees in 1927")
