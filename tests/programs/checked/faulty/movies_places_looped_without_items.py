# tools: movies
# expect: wrong-unpacking line 8
# fault: looping over a dict gives its keys, place ids of eight characters, which do not unpack into two names
names = {p["place_id"]: p["name"] for p in list_birthplaces()}
born_in = {place_id: list_people_born_in(place_id=place_id) for place_id in names}
crowded = {place_id: ids for place_id, ids in born_in.items() if len(ids) >= 3}
print(f"{len(crowded)} places with three winners or more")
for place_id, people in crowded:
    first = get_person(person_id=people[0])
    print(f"{names[place_id]}: {len(people)}, among them {first['name']}")
