# tools: baseball
# expect: none
player = search_players(query="Willie Mays")["players"][0]
fields = ("at_bats", "hits", "home_runs", "walks")
totals = dict.fromkeys(fields, 0)
for s in list_player_seasons(player_id=player["player_id"]):
    line = get_batting_line(player_id=player["player_id"], team_id=s["team_id"])
    totals = {f: totals[f] + line[f] for f in fields}
totals["average"] = round(totals["hits"] / totals["at_bats"], 3) if totals["at_bats"] else None
ab, h, hr, bb, avg = totals.values()
print(f"{player['name']}: {h}/{ab}, {hr} HR, {bb} BB, {avg}")
