# tools: movies
# kind: comparisons
# expect: not-a-list line 5
page = list_films_of_year(year=1984)
print(len(page["total"]))
