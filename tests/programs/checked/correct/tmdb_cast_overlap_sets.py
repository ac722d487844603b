# tools: tmdb
# expect: none
from itertools import combinations

def cast_of(title, **when):
    hits = GET_search_movie(query=title, **when)["results"]
    if not hits:
        return {}
    people = GET_movie_movie_id_credits(movie_id=hits[0]["id"])["cast"]
    return {p["id"]: p["name"] for p in people}

casts = {
    "Heat": cast_of("Heat", year=1995),
    "Casino": cast_of("Casino", primary_release_year=1995),
    "The Irishman": cast_of("The Irishman"),
}
for (a, in_a), (b, in_b) in combinations(casts.items(), 2):
    both = in_a.keys() & in_b.keys()
    print(f"{a} & {b}: {', '.join(sorted(in_a[i] for i in both)) or '-'}")
everyone = {}
for names in casts.values():
    everyone |= names
print(len(everyone))
