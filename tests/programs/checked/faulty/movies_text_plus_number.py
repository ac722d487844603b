# tools: movies
# kind: comparisons
# expect: wrong-operand line 5
page = list_films_of_year(year=2001)
print("Total: " + page["total"])
