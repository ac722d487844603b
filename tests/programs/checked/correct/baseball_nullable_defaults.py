# tools: baseball
# expect: none
people = [p for q in ("Joe DiMaggio", "Dom DiMaggio", "Vince DiMaggio") for p in search_players(query=q)["players"]]
cards = []
for p in people:
    full = get_player(player_id=p["player_id"])
    born = "-".join(f"{full[k]:02d}" if full[k] else "??" for k in ("birth_year", "birth_month", "birth_day"))
    span = [int(d[:4]) for d in (full["debut"], full["final_game"]) if d]
    cards.append((born, full["name"], span[-1] - span[0] if len(span) == 2 else None))
for born, name, years in sorted(cards):
    print(born, name, "never played" if years is None else years)
