# tools: baseball
# kind: invented enum value chosen by a conditional
# expect: bad-literal line 9
roster_plan = {"Sandy Koufax": True, "Yogi Berra": False}
picks = []
for name, pitches in roster_plan.items():
    player = search_players(query=name)["players"][0]
    if pitches:
        pick = draft_player(player_id=player["player_id"], slot="P")
    else:
        pick = draft_player(player_id=player["player_id"], slot="C")
    picks.append(f"{name}: {pick['slot']}")
print("; ".join(picks))
