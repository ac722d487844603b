# tools: movies
# kind: comparisons
# expect: never-equal line 4
print([f["film_id"] for f in search_films(title="Titanic") if f["year"] == "1997"])
