# tools: movies
# expect: none
# why: zip(*pairs) is unpacked into two names only where pairs is not empty
awards = (get_award(award_id=a["award_id"]) for y in (1991, 1998, 2001) for a in list_ceremony_awards(ceremony_year=y))
pairs = [(a["age_years"], a["person_id"]) for a in awards if a["category"] == "actress"]

if pairs:
    ages, people = zip(*pairs)
    youngest = people[ages.index(min(ages))]
    print(get_person(person_id=youngest)["name"], min(ages))
    print(f"mean age {sum(ages) / len(ages):.1f}", sorted(ages)[::-1])
else:
    print("none")
