# tools: baseball
# expect: none
# why: None is used as a Counter key and only replaced by a text at print time; most_common's pairs are unpacked twice
from collections import Counter
from functools import lru_cache


@lru_cache(maxsize=None)
def award_name(award_id):
    return next((a["name"] for a in list_awards() if a["award_id"] == award_id), "?")


counts = Counter()
for person in search_players(query="greg maddux")["players"]:
    for won in list_player_awards(player_id=person["player_id"]):
        counts[won["award_id"], won["league"]] += 1

for (award_id, league), n in counts.most_common(5):
    print(f"{award_name(award_id):<40.40}{league or 'unknown':>8}{n:4d}")
per_league = Counter()
for (_, league), n in counts.items():
    per_league[league] += n
print({(k if k is not None else "unknown"): v for k, v in per_league.items()})
