# tools: movies
# kind: comprehensions
# expect: missing-key line 4
names = {genre["genre_id"]: genre["title"] for genre in list_genres()}
print([names[g] for g in list_film_genres(film_id="fm_a2b3c")])
