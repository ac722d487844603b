# tools: baseball
# kind: enum
# expect: wrong-argument-type line 6
player = get_player(player_id="pl_a2b3c")
role = "batter" if player["bats"] else "thrower"
print(file_report(player_id=player["player_id"], role=role, grade=60)["report_id"])
