# tools: movies
# kind: page object iterated as if it were the list
# expect: not-a-list line 11
genres = list_genres()
western = next((g for g in genres if g["name"] == "Comedy"), None)
if western is None:
    print("no such genre")
else:
    page = list_films_of_genre(genre_id=western["genre_id"], year=1939, page_size=20)
    lengths = []
    for film in page:
        record = get_film(film_id=film["film_id"])
        if record["runtime_minutes"]:
            lengths.append(record["runtime_minutes"])
    print(max(lengths, default=0))
