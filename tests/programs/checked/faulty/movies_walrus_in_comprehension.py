# tools: movies
# kind: walrus
# expect: missing-key line 5
films = [f["film_id"] for f in search_films(title="Star")]
cheap = [b["budget"] for f in films if (b := get_film_budget(film_id=f))["budget_usd"] is not None]
print(cheap)
