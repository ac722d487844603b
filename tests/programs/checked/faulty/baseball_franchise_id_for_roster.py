# tools: baseball
# kind: id of the wrong kind passed on
# expect: wrong-argument-type line 9
franchise = search_franchises(query="Boston Red Sox")[0]
seasons = list_franchise_seasons(franchise_id=franchise["franchise_id"], from_season=2004, to_season=2004)["seasons"]

regulars, page = [], 1
while True:
    roster = list_roster(team_id=franchise["franchise_id"], page=page, page_size=100)
    regulars.extend(p for p in roster["players"] if p["games"] >= 140)
    if page >= roster["pages"]:
        break
    page += 1

regulars.sort(key=lambda p: p["games"], reverse=True)
for p in regulars:
    line = get_batting_line(player_id=p["player_id"], team_id=seasons[0]["team_id"])
    average = line["hits"] / line["at_bats"] if line["at_bats"] else 0
    print(f"{get_player(player_id=p['player_id'])['name']}: {average:.3f}")
