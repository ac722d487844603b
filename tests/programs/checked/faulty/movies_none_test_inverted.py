# tools: movies
# kind: None tests
# expect: none-value line 6
film = get_film(film_id="fm_a2b3c")
if film["runtime_minutes"] is None:
    print(film["runtime_minutes"] // 60)
