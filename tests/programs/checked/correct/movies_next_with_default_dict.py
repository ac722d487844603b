# tools: movies
# expect: none
# why: next(..., default) gives an own dict of another form, told apart by a key that it alone has
MISSING = {"missing": True}

def first(title, **years):
    return next(iter(search_films(title=title, limit=1, **years)), MISSING)

for title, year in {"Psycho": 1960, "Vertigo": 1958, "Zzyzx Unmade": 1999}.items():
    film = first(title, from_year=year, to_year=year)
    if film.get("missing"):
        print(title, "is not held")
        continue
    score = get_film_score(film_id=film["film_id"])
    print(f"{film['title']}: {score['mean_score'] if score['votes'] else 'no score'}")
