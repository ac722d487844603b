# tools: movies
# expect: bad-literal line 5
words = "sea"
for rows in (20, 40, 60):
    found = search_films(title=words, limit=rows)
    print(len(found))
