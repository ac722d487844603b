# tools: movies
# kind: comparison with a value outside of the enum
# expect: never-equal line 9
people = search_people(name="Hepburn")
winners = {}
for person in people:
    for award_id in list_person_awards(person_id=person["person_id"]):
        award = get_award(award_id=award_id)
        if award["category"] == "best actress":
            winners.setdefault(person["name"], []).append(award["ceremony_year"])
if winners:
    for name, years in winners.items():
        print(name, *years)
else:
    print("no Hepburn ever won")
