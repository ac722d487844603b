# tools: tmdb
# expect: none
def discover(pages=2, **filters):
    fixed = {k.replace("__", "."): v for k, v in filters.items()}
    for number in range(1, pages + 1):
        answer = GET_discover_movie(page=number, **fixed)
        yield from answer["results"]
        if number >= answer["total_pages"]:
            return

genre_ids = {g["name"].lower(): g["id"] for g in GET_genre_movie_list()["genres"]}
chosen = genre_ids.get("western", 37)
films = {
    f["id"]: f
    for f in discover(with_genres=str(chosen), vote_count__gte=1000, sort_by="vote_average.desc")
}
decades = {}
for f in films.values():
    decades.setdefault(f["release_date"][:3] + "0s", []).append(f["vote_average"])
print({d: round(sum(v) / len(v), 2) for d, v in sorted(decades.items())})
