# tools: movies
# expect: none
# why: min and max compare dataclass objects (order=True, two fields left out of comparison); a classmethod with a positional and a keyword argument
from dataclasses import dataclass, field


@dataclass(order=True)
class Win:
    age: int
    name: str = field(compare=False)
    film: str = field(compare=False, default="?")

    @classmethod
    def of(cls, award_id):
        award = get_award(award_id=award_id)
        person = get_person(person_id=award["person_id"])
        return cls(award["age_years"], person["name"], film=get_film(film_id=award["film_id"])["title"])


entries = [e for year in range(2000, 2010) for e in list_ceremony_awards(ceremony_year=year)]
wins = [Win.of(e["award_id"]) for e in entries if e["category"] == "actress"]
if wins:
    youngest, oldest = min(wins), max(wins)
    print(f"From {youngest.name} ({youngest.age}, {youngest.film}) to {oldest.name} ({oldest.age}, {oldest.film})")
else:
    print("No awards")
