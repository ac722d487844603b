# tools: baseball
# expect: none
# why: itemgetter with several keys gives tuples, zip(*rows) transposes them, and the empty case is caught before the unpacking
from operator import itemgetter

FIELDS = ("season", "home_runs", "at_bats", "runs_batted_in")
pick = itemgetter(*FIELDS)

people = search_players(query="hank aaron", page_size=1)["players"]
rows = [
    pick(get_batting_line(player_id=p["player_id"], team_id=s["team_id"]) | {"season": s["season"]})
    for p in people
    for s in list_player_seasons(player_id=p["player_id"])
]
if rows:
    seasons, homers, at_bats, driven_in = zip(*rows)
    known = [n for n in driven_in if n is not None]
    print(f"{min(seasons)}-{max(seasons)}: {sum(homers)} home runs, {sum(known)} driven in")
    if any(at_bats):
        rate, year = max((h / ab, y) for y, h, ab, _ in rows if ab)
        print(f"best rate {rate:.3f} in {year}")
else:
    print("no seasons")
