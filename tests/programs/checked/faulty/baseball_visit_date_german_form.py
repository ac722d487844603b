# tools: baseball
# expect: bad-literal line 15
# fault: the date is formatted as DD.MM.YYYY, while schedule_visit takes a date in the form YYYY-MM-DD (format date).
from datetime import date, timedelta

OPENING = date(2021, 4, 1)
teams = [t for t in list_season_teams(season=2019) if t["name"].startswith("Boston")]
agenda = []
for offset, team in enumerate(teams):
    for park in list_team_parks(team_id=team["team_id"])[:1]:
        day = OPENING + timedelta(weeks=offset)
        agenda.append({"park_id": park["park_id"], "date": f"{day:%d.%m.%Y}"})

for item in agenda:
    visit = schedule_visit(purpose="scouting", **item)
    print(get_park(park_id=visit["park_id"])["name"], visit["date"])
if not agenda:
    print("Nowhere to go")
