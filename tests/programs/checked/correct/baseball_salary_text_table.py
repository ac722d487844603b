# tools: baseball
# expect: none
import re
from collections import deque

pattern = re.compile(r"^(?P<first>\S+)\s+(?P<last>.+)$")
queue = deque(["Randy Johnson", "Pedro Martinez", "nobody at all"])
paid = {}
while queue:
    query = queue.popleft()
    parts = pattern.match(query).groupdict()
    best = 0
    for hit in search_players(query=query)["players"]:
        salaries = list_player_salaries(player_id=hit["player_id"])
        if not salaries:
            continue
        top = max(salaries, key=lambda s: s["salary_usd"])
        if top["salary_usd"] <= best:
            continue
        best = top["salary_usd"]
        paid[parts["last"]] = {"season": str(top["season"]), "usd": f"{best:,}", "team": get_team(team_id=top["team_id"])["name"]}
widths = {k: max([len(k), *(len(r[k]) for r in paid.values())]) for k in ("season", "usd", "team")}
for last, row in sorted(paid.items()):
    print(last.ljust(10), *(value.rjust(widths[k]) for k, value in row.items()))
