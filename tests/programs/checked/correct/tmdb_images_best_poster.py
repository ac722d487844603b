# tools: tmdb
# expect: none
sources = {
    "movie": (GET_movie_movie_id_images, "movie_id", 27205),
    "tv": (GET_tv_tv_id_images, "tv_id", 1399),
    "collection": (GET_collection_collection_id_images, "collection_id", 10),
}
chosen = {}
for kind, (tool, argument, number) in sources.items():
    images = tool(**{argument: number})
    posters, backdrops = images["posters"], images["backdrops"]
    pool = [dict(p, kind=group) for group, many in {"poster": posters, "backdrop": backdrops}.items() for p in many]
    if not pool:
        continue
    best = max(pool, key=lambda p: (p["vote_average"], p["vote_count"], p["width"] * p["height"]))
    chosen[kind] = best["kind"], best["file_path"]
for kind, (group, path) in chosen.items():
    print(kind, group, f"https://image.tmdb.org/t/p/original{path}")
