# tools: movies
# kind: unknown tool
# expect: unknown-tool line 5
films = search_films(title="Alien")
movie = get_movie(film_id=films[0]["film_id"])
print(movie["title"])
