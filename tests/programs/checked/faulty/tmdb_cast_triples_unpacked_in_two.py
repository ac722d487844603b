# tools: tmdb
# expect: wrong-unpacking line 12
# fault: top_cast gives tuples of three values, which are unpacked into two names.
def top_cast(movie_id, limit=5):
    cast = GET_movie_movie_id_credits(movie_id=movie_id).get("cast", [])
    cast = sorted(cast, key=lambda c: c.get("order", 999))
    return [(c.get("order", 999), c.get("name", "?"), c.get("character", "")) for c in cast[:limit]]


found = [m for m in GET_search_movie(query="Heat", primary_release_year=1995).get("results", []) if "id" in m]
if found:
    for name, role in top_cast(found[0]["id"]):
        print(f"{name} as {role or 'somebody'}")
else:
    print("No film")
