# tools: tmdb
# kind: sorting key kept from another tool
# expect: missing-key line 8
people = GET_search_person(query="Frances McDormand")
person = people["results"][0]
credits = GET_person_person_id_movie_credits(person_id=person["id"])
released = [c for c in credits["cast"] if c["release_date"]]
leading = min(released, key=lambda c: c["order"])
print(leading["title"], "as", leading["character"])
