# tools: tmdb
# expect: none
person = GET_search_person(query="Sofia Coppola")["results"][0]
credits = GET_person_person_id_movie_credits(person_id=person["id"])
print(len([m for m in credits["crew"] if m["job"] == "Director"]))
