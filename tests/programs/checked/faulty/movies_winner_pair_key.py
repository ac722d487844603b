# tools: movies
# kind: dict keyed by pairs, looked up with one part
# expect: missing-key line 17
ages = {}
order = []
for year in range(2001, 2006):
    for award in list_ceremony_awards(ceremony_year=year):
        details = get_award(award_id=award["award_id"])
        key = (details["person_id"], details["category"])
        ages.setdefault(key, []).append(details["age_years"])
        if details["person_id"] not in order:
            order.append(details["person_id"])

lines = []
for person_id in order:
    person = get_person(person_id=person_id)
    won_at = ages[person_id]
    lines.append(f"{person['name']}: {', '.join(map(str, won_at))}")
print("\n".join(lines))
