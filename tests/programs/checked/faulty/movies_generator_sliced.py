# tools: movies
# expect: not-a-list line 15
# fault: all_films is a generator function, and a generator cannot be sliced
def all_films(year):
    page = 1
    while True:
        data = list_films_of_year(year=year, page=page, page_size=200)
        yield from data["films"]
        if page >= data["pages"]:
            return
        page += 1


shorts = []
for film in all_films(1925)[:40]:
    minutes = get_film(film_id=film["film_id"])["runtime_minutes"]
    if minutes is not None and minutes <= 30:
        shorts.append(film["title"])
print(len(shorts), "shorts:", "; ".join(shorts))
