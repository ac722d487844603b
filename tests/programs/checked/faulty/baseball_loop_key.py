# tools: baseball
# kind: loops
# expect: missing-key line 5
for player in list_roster(team_id="tm_a2b3c")["players"]:
    print(player["player_id"], player["name"])
