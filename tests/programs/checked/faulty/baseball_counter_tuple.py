# tools: baseball
# kind: pair of a counter read as object
# expect: not-an-object line 9
from collections import Counter

salaries = list_player_salaries(player_id=search_players(query="Derek Jeter")["players"][0]["player_id"])
tally = Counter(row["team_id"] for row in salaries)
top = tally.most_common(1)[0]
team = get_team(team_id=top["team_id"])
print(team["name"], team["season"])
