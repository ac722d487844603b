# tools: baseball
# expect: never-equal line 6
# fault: inducted is a boolean, so it can never equal the text "Y" and nobody is ever found to be elected.
def election(player_id):
    votes = list_hall_of_fame_votes(player_id=player_id)
    return next((v for v in votes if v["inducted"] == "Y"), None)


for name in ("Willie Mays", "Pete Rose", "Sandy Koufax"):
    matches = search_players(query=name, page_size=5)["players"]
    if not matches:
        print(f"{name}: unknown")
        continue
    vote = election(matches[0]["player_id"])
    if vote is None:
        print(f"{name}: not in the Hall of Fame")
    else:
        print(f"{name}: elected {vote['year']} by {vote['voted_by']}")
