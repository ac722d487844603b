# tools: movies
# kind: wrong literal type
# expect: bad-literal line 4
own = rate_film(film_id="fm_a2b3c", stars="5")
print(own["rating_id"])
