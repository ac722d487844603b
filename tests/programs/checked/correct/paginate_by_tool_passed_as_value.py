# tools: baseball
# expect: none
# why: tools passed as values to one generic pager, with the list's key as argument and keyword arguments merged with |
import sys
from collections.abc import Callable, Iterator


def pager(tool: Callable[..., dict], key: str, /, **fixed) -> Iterator[dict]:
    current, stop = 1, False
    while not stop:
        got = tool(**fixed | {"page": current, "page_size": 100})
        yield from got[key]
        stop = got["page"] >= got["pages"]
        current += 1


school = None
for school in search_schools(query="Arizona State"):
    if school["name"] == "Arizona State University":
        break
if school is None:
    sys.exit("no such school")

alumni = {p["player_id"] for p in pager(list_school_players, "players", school_id=school["school_id"])}
print(school["name"], len(alumni), "players")
for team in list_season_teams(season=1979, league="AL"):
    roster = pager(list_roster, "players", team_id=team["team_id"])
    both = alumni.intersection(r["player_id"] for r in roster)
    if both:
        print(f"{team['name']}: {len(both)}")
