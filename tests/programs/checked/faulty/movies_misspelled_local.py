# tools: movies
# kind: name before assignment
# expect: undefined-name line 6
def titles(year):
    results = list_films_of_year(year=year)["films"]
    return [film["title"] for film in resutls]


print(titles(1990))
