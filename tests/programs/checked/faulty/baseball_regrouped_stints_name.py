# tools: baseball
# expect: missing-key line 15
# fault: list_player_seasons gives items with season, team_id and games only; the regrouped items are asked for a key "name" that PlayerSeason has not.
from collections import defaultdict

found = search_players(query="Rickey Henderson")["players"]
if not found:
    print("No such player")
else:
    stints = defaultdict(list)
    for stint in list_player_seasons(player_id=found[0]["player_id"]):
        stints[stint["season"]].append(stint)
    for year, group in sorted(stints.items()):
        games = sum(s["games"] for s in group)
        clubs = " / ".join(s["name"] for s in group)
        print(f"{year}: {games} games for {clubs}")
