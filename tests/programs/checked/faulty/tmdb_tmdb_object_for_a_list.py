# tools: tmdb
# expect: not-a-list line 4
# says: ['results']
for movie in GET_search_movie(query="The Dark Knight"):
    print(movie["title"])
