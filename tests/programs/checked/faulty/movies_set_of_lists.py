# tools: movies
# kind: comprehensions
# expect: missing-key line 4
people = {person["id"] for person in search_people(name="Hepburn")}
print(len(people))
