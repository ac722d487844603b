# tools: movies
# expect: none
from datetime import date

people = [get_person(person_id=p["person_id"]) for p in search_people(name="Grant")]
oldest = min(people, key=lambda p: date.fromisoformat(p["born_on"]), default=None)
if oldest:
    born = date.fromisoformat(oldest["born_on"])
    print(oldest["name"], (date(2020, 1, 1) - born).days // 365, f"{born:%d %B %Y}")
