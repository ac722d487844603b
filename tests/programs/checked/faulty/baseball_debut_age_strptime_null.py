# tools: baseball
# expect: none-value line 8
# fault: debut may be null (he never played), and strptime is given it untested through the helper; only birth_year is tested.
from datetime import datetime


def year_of(text):
    return datetime.strptime(text, "%Y-%m-%d").year


ages = []
for found in search_players(query="Griffey")["players"]:
    person = get_player(player_id=found["player_id"])
    if person["birth_year"] is None:
        continue
    ages.append((year_of(person["debut"]) - person["birth_year"], person["name"]))

if ages:
    age, who = min(ages)
    print(f"Youngest at his debut: {who}, about {age}")
else:
    print("Nothing known")
