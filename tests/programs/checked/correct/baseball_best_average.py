# tools: baseball
# expect: none
def batting_average(line):
    at_bats = line["at_bats"]
    return line["hits"] / at_bats if at_bats else 0.0


player = search_players(query="ted williams")["players"][0]
lines = []
for season in list_player_seasons(player_id=player["player_id"]):
    try:
        line = get_batting_line(player_id=player["player_id"], team_id=season["team_id"])
    except ToolError:
        continue
    lines.append((season["season"], batting_average(line)))
year, average = max(lines, key=lambda pair: pair[1])
print(year, f"{average:.3f}".lstrip("0"))
