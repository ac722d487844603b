# tools: baseball
# kind: dataclasses
# expect: missing-key line 16
from dataclasses import dataclass


@dataclass
class Row:
    name: str
    wins: int


rows = []
for entry in list_season_teams(season=1998):
    team = get_team(team_id=entry["team_id"])
    rows.append(Row(name=team["name"], wins=team["won"]))
print(sorted(rows, key=lambda row: row.wins)[0].name)
