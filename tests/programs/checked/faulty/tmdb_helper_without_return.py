# tools: tmdb
# kind: helper forgets to return
# expect: none-value line 12
def directors(movie_id):
    crew = GET_movie_movie_id_credits(movie_id=movie_id)["crew"]
    names = [c["name"] for c in crew if c["job"] == "Director"]
    names.sort()

first = GET_search_movie(query="Heat", primary_release_year=1995)["results"][0]
second = GET_search_movie(query="Collateral", primary_release_year=2004)["results"][0]
shared = []
for name in directors(first["id"]):
    shared.append(name)
print(first["title"], second["title"], shared)
