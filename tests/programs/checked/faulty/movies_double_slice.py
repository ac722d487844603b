# tools: movies
# kind: slices
# expect: missing-key line 5
films = list_films_of_year(year=1968)["films"]
print(films[::2][0]["title"], films[-2:][1]["director"])
