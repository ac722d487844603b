# tools: movies
# kind: in tests
# expect: never-equal line 5
genres = list_genres()
if "Western" in genres:
    print("westerns")
