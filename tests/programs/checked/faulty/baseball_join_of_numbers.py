# tools: baseball
# kind: join over integers
# expect: wrong-operand line 15
from collections import defaultdict

player = search_players(query="Greg Maddux")["players"][0]
awards = {a["award_id"]: a["name"] for a in list_awards()}

won = defaultdict(set)
for item in list_player_awards(player_id=player["player_id"]):
    won[awards[item["award_id"]]].add(item["season"])

lines = []
for name, seasons in sorted(won.items(), key=lambda kv: (-len(kv[1]), kv[0])):
    lines.append(f"{name} x{len(seasons)}: " + ", ".join(sorted(seasons)))

print(player["name"])
print("\n".join(lines))
