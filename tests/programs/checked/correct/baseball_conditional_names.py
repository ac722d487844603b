# tools: baseball
# expect: none
awards = {a["name"]: a["award_id"] for a in list_awards()}
mvp = next((i for n, i in awards.items() if n == "Most Valuable Player"), None)
if mvp:
    winners = list_award_winners(award_id=mvp, season=1999)
    heading = "MVP 1999"
else:
    winners, heading = [], "no such award"
print(heading)
for winner in winners:
    if winner["league"] in {"AL", "NL"}:
        print(f"{winner['league']:>4}: {get_player(player_id=winner['player_id'])['name']}")
