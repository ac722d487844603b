# tools: movies
# kind: range
# expect: bad-literal line 4
print(rate_film(film_id="fm_a2b3c", stars=6)["rating_id"])
