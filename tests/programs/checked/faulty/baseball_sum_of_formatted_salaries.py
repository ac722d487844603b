# tools: baseball
# expect: wrong-operand line 14
# fault: the dict's values are formatted texts (f"{...:,}"), so sum() of them adds int and str.
who = search_players(query="Alex Rodriguez")["players"]
player_id = who[0]["player_id"] if who else None

pay = {}
if player_id:
    for s in list_player_salaries(player_id=player_id):
        pay[s["season"]] = f"{s['salary_usd']:,}"

for season, amount in pay.items():
    print(f"{season}: ${amount:>15}")
total = sum(pay.values())
print(f"Total of {len(pay)} seasons: {total}")
