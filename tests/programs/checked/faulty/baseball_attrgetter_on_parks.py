# tools: baseball
# expect: no-attribute line 12
# fault: list_team_parks gives dicts, which have no attribute attendance; attrgetter fails where itemgetter was meant.
from operator import attrgetter

by_name = {t["name"]: t["team_id"] for t in list_season_teams(season=2003, league="NL")}
team_id = by_name.get("Montreal Expos")
if team_id is None:
    print("No such team")
else:
    parks = list_team_parks(team_id=team_id)
    ranking = sorted(parks, key=attrgetter("attendance"), reverse=True)
    for place, park in enumerate(ranking, start=1):
        where = get_park(park_id=park["park_id"])
        print(f"{place}. {where['name']}, {where['city']}: {park['attendance']:,} in {park['games']} games")
