# tools: baseball
# expect: none
# why: runs_batted_in may be null and is added, but `or 0` covers it; the page object is reassigned by a walrus in the loop condition.
found = search_players(query="Honus Wagner", page_size=1)["players"]
total = known = 0
if found:
    pid = found[0]["player_id"]
    for season in list_player_seasons(player_id=pid):
        line = get_batting_line(player_id=pid, team_id=season["team_id"])
        total += line["runs_batted_in"] or 0
        known += line["runs_batted_in"] is not None

names, number = [], 0
while (page := search_players(query="Wagner", page=(number := number + 1)))["pages"] >= number:
    names += [p["name"] for p in page["players"]]
    if number == page["pages"]:
        break

print(f"{total} RBI in {known} recorded stints; {len(names)} people called Wagner")
