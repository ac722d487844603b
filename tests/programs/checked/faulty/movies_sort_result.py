# tools: movies
# kind: None tests
# expect: none-value line 6
films = search_films(title="Star Trek")
ordered = films.sort(key=lambda film: film["year"])
print(ordered[0]["title"])
