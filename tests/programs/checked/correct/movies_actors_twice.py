# tools: movies
# expect: none
from collections import defaultdict

won = defaultdict(set)
for year in range(1990, 2000):
    for award in list_ceremony_awards(ceremony_year=year):
        details = get_award(award_id=award["award_id"])
        won[details["person_id"]].add(details["film_id"])
twice = [person for person, films in won.items() if len(films) > 1]
print(", ".join(get_person(person_id=p)["name"] for p in twice) or "nobody")
