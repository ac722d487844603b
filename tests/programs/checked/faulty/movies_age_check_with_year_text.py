# tools: movies
# expect: wrong-operand line 15
# fault: birth_year gives text ('1937'), so ceremony_year - born subtracts a str from an int
def birth_year(person_id):
    year, _, _ = get_person(person_id=person_id)["born_on"].split("-")
    return year


winners = [
    get_award(award_id=entry["award_id"])
    for year in range(1990, 1995)
    for entry in list_ceremony_awards(ceremony_year=year)
]
rows = [(w, birth_year(w["person_id"])) for w in winners]
odd = [w["award_id"] for w, born in rows if abs(w["ceremony_year"] - born - w["age_years"]) > 1]
print(f"{len(odd)} of {len(rows)} ages look wrong: {odd}")
