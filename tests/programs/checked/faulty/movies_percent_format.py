# tools: movies
# kind: formatting with %
# expect: missing-key line 5
film = get_film(film_id="fm_a2b3c")
print("%s (%d)" % (film["title"], film["released"]))
