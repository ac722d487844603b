# tools: tmdb
# expect: missing-key line 5
# fault: TV keywords lie under "results" but movie keywords under "keywords"; the helper asks both for "results", which GET_movie_movie_id_keywords never has.
def words(payload):
    return {k["name"] for k in payload.get("results", []) if "name" in k}


show = next(iter(GET_search_tv(query="Fargo").get("results", [])), None)
film = next(iter(GET_search_movie(query="Fargo", year=1996).get("results", [])), None)
if show and film and "id" in show and "id" in film:
    tv_words = words(GET_tv_tv_id_keywords(tv_id=show["id"]))
    film_words = words(GET_movie_movie_id_keywords(movie_id=film["id"]))
    print("In common:", ", ".join(sorted(tv_words & film_words)) or "nothing")
    print("Only in the film:", ", ".join(sorted(film_words - tv_words)) or "nothing")
else:
    print("Not both were found")
