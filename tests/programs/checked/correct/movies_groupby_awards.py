# tools: movies
# expect: none
from itertools import groupby, chain
from operator import itemgetter

awards = [
    get_award(award_id=a["award_id"])
    for a in chain.from_iterable(list_ceremony_awards(ceremony_year=y) for y in (1975, 1976, 1977))
]
awards.sort(key=itemgetter("category", "ceremony_year"))
for category, group in groupby(awards, key=itemgetter("category")):
    rows = list(group)
    youngest, *rest = sorted(rows, key=lambda r: r["age_years"])
    print(category, get_person(person_id=youngest["person_id"])["name"], len(rest))
