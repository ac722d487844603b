# tools: baseball
# expect: wrong-argument-type line 15
# fault: the ids come from search_franchises (pattern ^fr_...), while get_team_statistics takes a team_id of pattern ^tm_...
from typing import NamedTuple


class Club(NamedTuple):
    label: str
    key: str


clubs = [Club(f["name"], f["franchise_id"]) for f in search_franchises(query="Sox")]
table = []
for club in clubs:
    stats = get_team_statistics(team_id=club.key)
    table.append((stats["home_runs"], stats["errors"], club.label))

table.sort(reverse=True)
for homers, errors, label in table:
    print(f"{label:<25}{homers:>5}{errors:>5}")
