# tools: tmdb
# expect: none
# why: ids are turned into one comma separated text by map(str), and the dotted filters are given by their names with underscores.
from operator import methodcaller

low = methodcaller("lower")
genres = {low(g["name"]): g["id"] for g in GET_genre_movie_list().get("genres", []) if {"id", "name"} <= g.keys()}
wanted = [genres[n] for n in ("western", "comedy") if n in genres]
page = GET_discover_movie(
    with_genres=",".join(map(str, wanted)),
    **{"vote_average_gte": 7, "release_date_lte": "1979-12-31", "include_adult": False},
    sort_by=f"vote_{'count' if len(wanted) > 1 else 'average'}.desc",
)
for film in page.get("results", [])[:5]:
    print(f"{film.get('release_date', '')[:4] or '????'} {film.get('title', 'untitled')}")
print(page.get("total_results", 0), "films in all")
