# tools: baseball
# kind: invented key with .get can never be found
# expect: missing-key line 9
ruth = search_players(query="Babe Ruth")["players"][0]
seasons = list_player_seasons(player_id=ruth["player_id"])
best = 0
for s in seasons:
    line = get_batting_line(player_id=ruth["player_id"], team_id=s["team_id"])
    best = max(best, line.get("batting_average", 0))
print(f"best average: {best:.3f}")
