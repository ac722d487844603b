# tools: baseball
# expect: none-value line 10
# expect: none-value line 10
# fault: final_game and debut may both be null (people who never played, as many managers); date.fromisoformat(None) raises TypeError
import datetime as dt


def span(first, last):
    to_date = dt.date.fromisoformat
    return (to_date(last) - to_date(first)).days


mets = [t["team_id"] for t in list_season_teams(season=1962, league="NL") if "Mets" in t["name"]]
careers = {}
for team_id in mets:
    for m in list_team_managers(team_id=team_id):
        person = get_player(player_id=m["player_id"])
        careers[person["name"]] = span(person["debut"], person["final_game"])

for name, days in careers.items():
    print(name, f"{days:,} days between first and last game")
