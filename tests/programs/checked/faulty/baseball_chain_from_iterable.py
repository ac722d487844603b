# tools: baseball
# kind: itertools
# expect: missing-key line 7
from itertools import chain

rosters = (list_roster(team_id=t["team_id"])["players"] for t in list_season_teams(season=1927))
print(sum(player["games_played"] for player in chain.from_iterable(rosters)))
