# tools: baseball
# expect: none
# why: debut and final_game are nullable and go to fromisoformat; the test is `None not in (...)` on a tuple unpacked from the same dict.
from datetime import date
from operator import itemgetter

dates = itemgetter("debut", "final_game")
careers = {}
for hit in search_players(query="Niekro")["players"]:
    person = get_player(player_id=hit["player_id"])
    if None not in (span := dates(person)):
        first, last = map(date.fromisoformat, span)
        careers[f"{person['name']} (*{person['birth_year'] or '?'})"] = (last - first).days

if careers:
    name, days = max(careers.items(), key=itemgetter(1))
    print(f"{name} was there for {days / 365.25:.1f} years")
else:
    print("None of them played")
