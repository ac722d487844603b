# tools: movies
# kind: datetime arithmetic
# expect: wrong-operand line 6
person = get_person(person_id="pp_a2b3c")
award = get_award(award_id="aw_a2b3c")
print(award["ceremony_year"] - person["born_on"])
