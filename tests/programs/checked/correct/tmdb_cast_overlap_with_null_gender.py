# tools: tmdb
# expect: none
# why: ids serve as dict keys and set members; gender and profile_path may be null or absent and are only compared or given to `or`.
GENDERS = {0: "unknown", 1: "female", 2: "male", None: "unknown"}
casts = {}
for title, year in (("Ocean's Eleven", 2001), ("Ocean's Twelve", 2004)):
    results = GET_search_movie(query=title, year=year).get("results", [])
    first = next((m["id"] for m in results if "id" in m), None)
    people = GET_movie_movie_id_credits(movie_id=first).get("cast", []) if first is not None else ()
    casts[title] = {p["id"]: p for p in people if "id" in p}

one, two = casts.values()
for pid in sorted(one.keys() & two.keys(), key=lambda i: one[i].get("order", 10**6)):
    person = one[pid] | two[pid]
    photo = person.get("profile_path") or "no photo"
    print(f"{person.get('name', pid)}: {GENDERS.get(person.get('gender'), 'other')}, {photo.lstrip('/')}")
print(len(one.keys() ^ two.keys()), "in one film only")
