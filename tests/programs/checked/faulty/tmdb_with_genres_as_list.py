# tools: tmdb
# expect: wrong-argument-type line 14
# fault: with_genres of GET_discover_movie is one text of comma separated ids, but a list of integers is passed.
wanted = {"science fiction", "thriller"}
ids = [
    g["id"]
    for g in GET_genre_movie_list().get("genres", [])
    if "id" in g and g.get("name", "").lower() in wanted
]
filters = {"with_genres": ids, "vote_count_gte": 1000, "sort_by": "vote_average.desc"}
if len(ids) < len(wanted):
    print("Some genre is unknown")
else:
    best = GET_discover_movie(**filters).get("results", [])
    for film in best[:5]:
        print(film.get("title", "?"), film.get("vote_average", "-"))
