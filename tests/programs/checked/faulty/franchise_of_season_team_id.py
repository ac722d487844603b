# tools: baseball
# expect: wrong-argument-type line 14
# fault: list_player_seasons' items carry a team_id (tm_...), which cannot match the pattern ^fr_ that get_franchise's franchise_id requires
def franchises_of(player_id):
    seen = {}
    for stint in list_player_seasons(player_id=player_id):
        key = stint["team_id"]
        if key in seen:
            seen[key] += stint["games"]
        else:
            seen[key] = stint["games"]
    totals = {}
    for club_id, games in seen.items():
        club = get_franchise(franchise_id=club_id)
        totals[club["name"]] = totals.get(club["name"], 0) + games
    return totals


page = search_players(query="Rickey Henderson", page_size=1)
for candidate in page["players"]:
    for name, games in franchises_of(candidate["player_id"]).items():
        print(name, games, sep="\t")
