# tools: baseball
# expect: wrong-unpacking line 18
# fault: record returns three values (wins, losses, innings), and the loop unpacks its result into two names: ValueError
def record(player_id, team_id):
    line = get_pitching_line(player_id=player_id, team_id=team_id)
    innings, rest = divmod(line["outs"], 3)
    return line["wins"], line["losses"], innings + rest / 3


duels = {}
for words in ("roger clemens", "pedro martinez"):
    for person in search_players(query=words, page_size=1)["players"]:
        stints = list_player_seasons(player_id=person["player_id"])
        duels[person["name"]] = [record(person["player_id"], s["team_id"]) for s in stints[-5:]]

for name, records in duels.items():
    won = lost = 0
    for wins, losses in records:
        won += wins
        lost += losses
    print(f"{name}: {won}-{lost} in his last {len(records)} stints")
