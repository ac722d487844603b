# tools: baseball
# expect: none
from datetime import date, timedelta

franchise = search_franchises(query="Chicago Cubs")[0]["franchise_id"]
team_id = list_franchise_seasons(franchise_id=franchise, from_season=2016, to_season=2016)["seasons"][0]["team_id"]
park = max(list_team_parks(team_id=team_id), key=lambda p: p["games"])
home = get_park(park_id=park["park_id"])

booked = {(v["park_id"], v["date"]) for v in list_visits()}
day = date.fromisoformat(park["first_date"]).replace(year=2031)
while (home["park_id"], str(day)) in booked or day.isoweekday() > 5:
    day += timedelta(days=1)
visit = schedule_visit(park_id=home["park_id"], date=str(day), purpose="filming")

roster = sorted(list_roster(team_id=team_id, page_size=100)["players"], key=lambda p: -p["games"])[:3]
for priority, entry in enumerate(roster, 1):
    watch_player(player_id=entry["player_id"], priority=priority)
order = {e["player_id"]: e["priority"] for e in list_watchlist()}
top = [get_player(player_id=p)["name"] for p, _ in sorted(order.items(), key=lambda kv: kv[1])][:3]
print(f"{visit['purpose']} at {home['name']} on {visit['date']}; watching {', '.join(top)}")
