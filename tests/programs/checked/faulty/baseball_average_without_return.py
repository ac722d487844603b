# tools: baseball
# expect: none-value line 15
# fault: average() computes the quotient but returns nothing where at_bats is not 0, so None reaches the format code .3f.
def average(line):
    if not line["at_bats"]:
        return 0.0
    value = line["hits"] / line["at_bats"]


hits = search_players(query="Ted Williams")["players"]
if hits:
    pid = hits[0]["player_id"]
    for season in list_player_seasons(player_id=pid):
        line = get_batting_line(player_id=pid, team_id=season["team_id"])
        print(f"{season['season']}  {average(line):.3f}  {line['home_runs']:>3} HR")
else:
    print("No player of this name")
