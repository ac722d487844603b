# tools: baseball
# expect: none
# why: the date argument goes through date arithmetic and back to text by isoformat; min with key over parks, and the purpose is computed by indexing a tuple with a bool
from datetime import date, timedelta
from operator import itemgetter as get

teams = [t for t in list_season_teams(season=2019) if "Expos" in t["name"] or "Nationals" in t["name"]]
planned = set()
for t in teams:
    parks = list_team_parks(team_id=t["team_id"])
    if not parks:
        continue
    park = min(parks, key=get("first_date"))
    opening = date.fromisoformat(park["first_date"]).replace(year=2024, day=1)
    monday = opening + timedelta(days=-opening.weekday() % 7)
    visit = schedule_visit(
        park_id=park["park_id"],
        date=f"{monday:%Y-%m-%d}",
        purpose=("ceremony", "scouting")[park["attendance"] > 1_000_000],
    )
    planned |= {(visit["date"], get_park(park_id=visit["park_id"])["name"])}

print(*(" ".join(pair) for pair in sorted(planned)), sep="\n") if planned else print("nothing planned")
