# tools: movies
# kind: slices
# expect: not-an-object line 5
films = search_films(title="Rocky")
print(films[:3]["title"])
