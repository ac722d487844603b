# tools: baseball
# expect: none
# why: the priority is computed from a count that may be anything, but min and max hold it within 1 to 5.
from collections import Counter

awards = {a["award_id"]: a["name"] for a in list_awards() if "Gold Glove" in a["name"]}
gloves = Counter()
for award_id in awards:
    for season in range(2010, 2018):
        gloves.update(w["player_id"] for w in list_award_winners(award_id=award_id, season=season))

for player_id, times in gloves.most_common(10):
    entry = watch_player(player_id=player_id, priority=max(1, min(5, 6 - times)))
    print(f"{get_player(player_id=player_id)['name']}: {times} times, priority {entry['priority']}")
if not gloves:
    print("Nobody won one")
