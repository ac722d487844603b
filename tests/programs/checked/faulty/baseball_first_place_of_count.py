# tools: baseball
# expect: bad-literal line 5
players = [winner["player_id"] for winner in list_award_winners(award_id="aw_abcde", season=2015)]
for place, player in enumerate(players):
    entry = watch_player(player_id=player, priority=place)
    print(entry["priority"])
