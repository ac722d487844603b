# tools: movies
# kind: methods of str, list and dict
# expect: no-attribute line 5
films = list_films_of_year(year=1977)
films.extend(list_films_of_year(year=1978)["films"])
print(films)
