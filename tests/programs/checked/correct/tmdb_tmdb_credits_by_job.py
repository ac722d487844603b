# tools: tmdb
# expect: none
movie = GET_movie_movie_id(movie_id=155)
print(movie["title"], [g["name"] for g in movie["genres"]], movie["runtime"] or 0, movie["release_date"])
crew = GET_movie_movie_id_credits(movie_id=155)["crew"]
jobs = {}
for member in crew:
    jobs.setdefault(member["job"], []).append(member["name"])
print(jobs.get("Director", []), sorted(jobs))
