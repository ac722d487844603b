# tools: movies
# kind: slices
# expect: missing-key line 5
for film in list_films_of_year(year=1939)["films"][1:4]:
    print(film["title"], film["year"])
