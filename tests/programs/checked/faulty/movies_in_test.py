# tools: movies
# kind: in tests
# expect: missing-key line 6
film = get_film(film_id="fm_a2b3c")
if "title" in film:
    print(film["name"])
