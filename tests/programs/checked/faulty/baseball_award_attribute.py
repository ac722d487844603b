# tools: baseball
# kind: field of a dict read as attribute
# expect: no-attribute line 10
cy_young = next((a for a in list_awards() if "cy young" in a["name"].lower()), None)
if cy_young is None:
    raise SystemExit("no such award")

rows = []
for season in range(1995, 2001):
    for winner in list_award_winners(award_id=cy_young.award_id, season=season):
        team_ids = [s["team_id"] for s in list_player_seasons(player_id=winner["player_id"]) if s["season"] == season]
        lines = [get_pitching_line(player_id=winner["player_id"], team_id=t) for t in team_ids]
        outs = sum(line["outs"] for line in lines)
        era = 27 * sum(line["earned_runs"] for line in lines) / outs
        rows.append((era, season, winner["league"], winner["player_id"]))

for era, season, league, player_id in sorted(rows)[:3]:
    print(f"{get_player(player_id=player_id)['name']} ({league} {season}): {era:.2f}")
