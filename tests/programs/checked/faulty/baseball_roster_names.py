# tools: baseball
# kind: roster item read for a name after paging and filtering
# expect: missing-key line 23
def everyone(team_id):
    number, players = 1, []
    while True:
        page = list_roster(team_id=team_id, page=number, page_size=100)
        players += page["players"]
        if number == page["pages"]:
            return players
        number += 1


def regulars(players, least):
    return [p for p in players if p["games"] >= least]


teams = list_season_teams(season=1927, league="AL")
yankees = [t for t in teams if "Yankees" in t["name"]][0]
chosen = regulars(everyone(yankees["team_id"]), 100)
chosen.sort(key=lambda p: p["games"], reverse=True)
for player in chosen:
    print(player["games"], player["name"])
