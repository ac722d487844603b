# tools: baseball
# kind: enum
# expect: wrong-argument-type line 8
WANTED = {"Babe Ruth": "outfield", "Cy Young": "pitcher"}
for name, slot in WANTED.items():
    found = search_players(query=name)["players"]
    if found:
        print(draft_player(player_id=found[0]["player_id"], slot=slot)["pick_id"])
