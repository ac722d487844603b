# tools: baseball
# expect: missing-key line 15
# fault: Counter.most_common gives (award_id, count) pairs; the pair is used as key of a dict whose keys are award ids only, which raises KeyError
from collections import Counter

award_names = {a["award_id"]: a["name"] for a in list_awards()}
found = search_players(query="barry bonds")["players"]

if found:
    bonds = found[0]
    won = Counter(item["award_id"] for item in list_player_awards(player_id=bonds["player_id"]))
    top = won.most_common(3)
    print(f"{bonds['name']} won most often:")
    for award in top:
        print(" -", award_names[award])
else:
    print("Not found")
