# tools: movies
# expect: none
# why: nested dicts are made by setdefault; lookups with [] are of keys put there before
names = {p["place_id"]: p["name"] for p in list_birthplaces()}
tree: dict[str, dict[str, list[str]]] = {}

for place_id, place in names.items():
    if not place.startswith(("A", "I")):
        continue
    for person_id in list_people_born_in(place_id=place_id):
        person = get_person(person_id=person_id)
        decade = person["born_on"][:3] + "0s"
        tree.setdefault(place, {}).setdefault(decade, []).append(person["name"])

for place in sorted(tree, key=lambda p: (-sum(map(len, tree[p].values())), p)):
    print(place)
    for decade, people in sorted(tree[place].items()):
        print("  ", decade, "; ".join(sorted(people, key=lambda n: n.split()[-1:])))
