# tools: baseball
# expect: missing-key line 12
# fault: Counter.most_common yields (award_id, count) pairs; the pair itself is used as a key of a dict keyed by award ids, which is a KeyError.
from collections import Counter

names = {a["award_id"]: a["name"] for a in list_awards()}
page = search_players(query="Barry Bonds")
if page["total"] and page["players"]:
    won = Counter(a["award_id"] for a in list_player_awards(player_id=page["players"][0]["player_id"]))
    print(f"{sum(won.values())} awards of {len(won)} kinds")
    for award in won.most_common(3):
        print("-", names[award])
else:
    print("No such player")
