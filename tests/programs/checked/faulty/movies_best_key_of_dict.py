# tools: movies
# kind: max and min
# expect: missing-key line 5
scores = {f["title"]: get_film_score(film_id=f["film_id"]) for f in search_films(title="Godfather")}
best = max(scores, key=lambda title: scores[title]["score"])
print(best)
