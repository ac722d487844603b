# tools: baseball
# expect: none
LEAGUES = {"American": "AL", "National": "NL"}
best = {name: [] for name in LEAGUES}
by_code = {code: 0 for code in LEAGUES.values()}
for name, code in LEAGUES.items():
    for entry in list_season_teams(season=1998, league=code):
        best[name].append(entry["team_id"])
        by_code[code] += 1
for name in LEAGUES:
    for entry in list_season_teams(season=1999, league=LEAGUES[name]):
        best[name].append(entry["team_id"])
for place, (name, code) in enumerate(LEAGUES.items(), start=1):
    print(place, name, by_code[code], by_code.get(name, "-"), len(best[name]))
winners = list_award_winners(award_id=list_awards()[0]["award_id"], season=2015)
for position, winner in enumerate(winners[:5]):
    watch_player(player_id=winner["player_id"], priority=position + 1)
for position, winner in enumerate(winners[:5]):
    watch_player(player_id=winner["player_id"], priority=max(position, 1))
for position, winner in enumerate(winners[:6]):
    if position:
        watch_player(player_id=winner["player_id"], priority=position)
for position, winner in enumerate(winners[:6]):
    if position == 0:
        continue
    watch_player(player_id=winner["player_id"], priority=position)
