# tools: movies
# kind: str.format
# expect: missing-key line 5
for film in search_films(title="Jaws"):
    print("{0[title]} of {0[released]}".format(film))
