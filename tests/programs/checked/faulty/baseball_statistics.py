# tools: baseball
# kind: statistics
# expect: missing-key line 6
from statistics import mean

games = mean(player["games_played"] for player in list_roster(team_id="tm_a2b3c")["players"])
print(games)
