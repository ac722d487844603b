# tools: tmdb
# expect: bad-literal line 3
print(GET_movie_movie_id_credits(movie_id="155")["cast"][0]["name"])
