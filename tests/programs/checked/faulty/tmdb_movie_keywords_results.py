# tools: tmdb
# kind: key kept from the tv twin of the tool
# expect: missing-key line 12
from collections import Counter

tally = Counter()
show = GET_search_tv(query="Fargo")["results"][0]
for kw in GET_tv_tv_id_keywords(tv_id=show["id"])["results"]:
    tally[kw["name"]] += 1

film = GET_search_movie(query="Fargo", year=1996)["results"][0]
for kw in GET_movie_movie_id_keywords(movie_id=film["id"])["results"]:
    tally[kw["name"]] += 1

shared = [name for name, n in tally.items() if n == 2]
print(len(shared), "shared keywords:", ", ".join(shared))
