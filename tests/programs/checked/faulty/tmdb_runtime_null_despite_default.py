# tools: tmdb
# expect: none-value line 5
# fault: runtime of GET_movie_movie_id may be null; the default 0 of get helps only where the key is absent, so divmod(None, 60) can occur.
def clock(minutes):
    hours, rest = divmod(minutes, 60)
    return f"{hours}:{rest:02d}"


for hit in GET_search_movie(query="Lawrence of Arabia").get("results", [])[:3]:
    if "id" not in hit:
        continue
    movie = GET_movie_movie_id(movie_id=hit["id"])
    length = movie.get("runtime", 0)
    print(movie.get("title", "?"), clock(length), movie.get("status", ""))
