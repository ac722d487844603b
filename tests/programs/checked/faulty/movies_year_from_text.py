# tools: movies
# kind: year handed on as text
# expect: wrong-argument-type line 7
decades = "1950 1960 1970".split()
totals = {}
for decade in decades:
    page = list_films_of_year(year=decade, page_size=1)
    totals[decade] = page["total"]
print(", ".join(f"{d}: {n}" for d, n in totals.items()))
