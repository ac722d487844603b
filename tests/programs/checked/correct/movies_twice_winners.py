# tools: movies
# expect: none
from collections import defaultdict
from dataclasses import dataclass, field


@dataclass
class Winner:
    person_id: str
    films: list = field(default_factory=list)
    ages: list[int] = field(default_factory=list)

    @property
    def name(self):
        return get_person(person_id=self.person_id)["name"]

    def __lt__(self, other):
        return (-len(self.films), self.ages) < (-len(other.films), other.ages)


class Winners(defaultdict):
    def __missing__(self, key):
        self[key] = Winner(key)
        return self[key]


winners = Winners()
for year in range(1990, 1998):
    for award in list_ceremony_awards(ceremony_year=year):
        if award["category"] != "actor":
            continue
        full = award | get_award(award_id=award["award_id"])
        entry = winners[full["person_id"]]
        entry.films.append(full["film_id"])
        entry.ages.append(full["age_years"])

first, *others = sorted(winners.values())
print(f"{first.name}: {', '.join(get_film(film_id=f)['title'] for f in first.films)} at {first.ages}; {len(others)} others")
