# tools: tmdb
# kind: list read as object
# expect: not-an-object line 11
films = GET_collection_collection_id(collection_id=1241)["parts"]
ratings = {}
for film in films:
    releases = GET_movie_movie_id_release_dates(movie_id=film["id"])
    us = next((r for r in releases["results"] if r["iso_3166_1"] == "US"), None)
    if us is None:
        continue
    ratings[film["title"]] = us["release_dates"]["certification"]
for title, rating in sorted(ratings.items()):
    print(f"{title:<50}{rating}")
