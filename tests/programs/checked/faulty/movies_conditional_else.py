# tools: movies
# kind: conditional expressions
# expect: missing-key line 5
film = get_film(film_id="fm_a2b3c")
label = "long" if (film["runtime_minutes"] or 0) > 180 else film["genre"]
print(label)
