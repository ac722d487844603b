# tools: baseball
# kind: sum over dicts
# expect: wrong-operand line 16
from itertools import groupby

names = ["Derek Jeter", "Ichiro Suzuki"]
totals = {}
for name in names:
    found = search_players(query=name)["players"]
    if not found:
        print("unknown:", name)
        continue
    paid = list_player_salaries(player_id=found[0]["player_id"])
    per_decade = {}
    for decade, group in groupby(paid, key=lambda s: s["season"] // 10 * 10):
        per_decade[decade] = sum(group)
    totals[name] = per_decade

for name, decades in totals.items():
    print(name, {f"{d}s": f"${usd / 1e6:.1f}M" for d, usd in decades.items()})
