# tools: movies
# expect: bad-literal line 8
# fault: range(2012, 2021) reaches 2020, above the maximum of 2019 of ceremony_year.
from collections import defaultdict

ages = defaultdict(list)
for ceremony in range(2012, 2021):
    for entry in list_ceremony_awards(ceremony_year=ceremony):
        award = get_award(award_id=entry["award_id"])
        ages[award["category"]].append(award["age_years"])

for category in ("actor", "actress"):
    values = ages[category]
    if values:
        print(f"{category:>8}: {sum(values) / len(values):.1f} years on average")
