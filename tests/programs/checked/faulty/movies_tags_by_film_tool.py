# tools: movies
# expect: unknown-tool line 7
# fault: there is no tool list_film_tags (tags come from get_board_entry, genres from list_film_genres)
names = {t["tag_id"]: t["name"] for t in list_tags()}
shared = None
for film in search_films(title="Vertigo", to_year=1990, limit=5):
    ids = set(list_film_tags(film_id=film["film_id"]))
    shared = ids if shared is None else shared & ids
    print(film["title"], film["year"], *sorted(names.get(i, i) for i in ids))
print("In common:", sorted(names.get(i, i) for i in shared or ()))
