# tools: movies
# kind: formatting with %
# expect: wrong-operand line 5
person = get_person(person_id="pp_a2b3c")
print("%s was born in %d" % (person["name"], person["born_on"]))
