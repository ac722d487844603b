# tools: movies
# kind: syntax
# expect: syntax line 7
film = get_film(film_id="fm_a2b3c")
if film["year"] < 1950:
    print("old")
else if film["year"] < 1990:
    print("middle")
