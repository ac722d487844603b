# tools: baseball
# expect: none
from itertools import groupby


def teams_of(season, *leagues):
    for league in leagues:
        for entry in list_season_teams(season=season, league=league):
            yield entry | get_team(team_id=entry["team_id"])


key = lambda t: (t["league"], t["division"] or "")
table = sorted(teams_of(1969, "AL", "NL"), key=lambda t: (*key(t), t["rank"]))
for (league, division), group in groupby(table, key):
    leader, *chasers = group
    behind = [(leader["wins"] - t["wins"] + t["losses"] - leader["losses"]) / 2 for t in chasers]
    mark = "*" if leader["world_series_winner"] else ""
    print(f"{league} {division}: {leader['name']}{mark} {leader['wins']}-{leader['losses']}, {min(behind, default=0):g} ahead")
