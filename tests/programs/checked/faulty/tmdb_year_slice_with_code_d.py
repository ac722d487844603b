# tools: tmdb
# expect: wrong-operand line 14
# fault: the first four characters of release_date are a text, for which the format code d is a ValueError.
person = next((p for p in GET_search_person(query="Agnes Varda").get("results", []) if "id" in p), None)
if person is None:
    print("Person not found")
else:
    crew = GET_person_person_id_movie_credits(person_id=person["id"]).get("crew", [])
    table = {}
    for work in crew:
        if work.get("job") == "Director" and work.get("release_date"):
            table[work.get("title", "?")] = work["release_date"][:4]
    for title, year in sorted(table.items(), key=lambda pair: pair[1]):
        print(f"{year:6d}  {title}")
    print(len(table), "films")
