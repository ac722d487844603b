# tools: movies
# kind: annotations
# expect: missing-key line 5
film: dict = get_film(film_id="fm_a2b3c")
minutes: int | None = film["minutes"]
print(minutes)
