# tools: movies
# kind: datetime arithmetic
# expect: wrong-operand line 7
from datetime import date

people = [get_person(person_id=p["person_id"]) for p in search_people(name="Ford")]
print([p["name"] for p in people if date.fromisoformat(p["born_on"]) < "1940-01-01"])
