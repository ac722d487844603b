# tools: tmdb
# expect: none
movie = GET_search_movie(query="The Dark Knight")["results"][0]
cast = GET_movie_movie_id_credits(movie_id=movie["id"])["cast"]
lead = min(cast, key=lambda c: c["order"])
print(lead["name"], lead["character"], movie["release_date"][:4])
