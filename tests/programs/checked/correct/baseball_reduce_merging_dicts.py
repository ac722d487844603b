# tools: baseball
# expect: none
# why: dicts of numbers are merged by reduce with |, keys are taken by a comprehension over items, and the start value keeps an empty list from failing.
from functools import reduce

KEEP = ("home_runs", "walks", "strikeouts")


def plus(acc, line):
    numbers = {k: v for k, v in line.items() if k in KEEP and isinstance(v, int)}
    return acc | {k: acc[k] + v for k, v in numbers.items()}


hits = search_players(query="Babe Ruth")["players"]
lines = (
    get_batting_line(player_id=hits[0]["player_id"], team_id=s["team_id"])
    for s in (list_player_seasons(player_id=hits[0]["player_id"]) if hits else [])
)
sums = reduce(plus, lines, dict.fromkeys(KEEP, 0))
print(", ".join(f"{key.replace('_', ' ')}: {value}" for key, value in sums.items()))
