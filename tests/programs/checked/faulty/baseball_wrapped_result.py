# tools: baseball
# kind: nested paths
# expect: not-an-object line 4
seasons = list_player_seasons(player_id="pl_a2b3c")["seasons"]
print(len(seasons))
