# tools: tmdb
# expect: missing-key line 5
# says: title
found = GET_search_movie(query="The Dark Knight")["results"]
print(found[0]["name"])
