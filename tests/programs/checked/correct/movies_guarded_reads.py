# tools: movies
# expect: none
film = get_film(film_id="fm_a2b3c")
links = get_film_links(film_id=film["film_id"])
try:
    gross = get_box_office(box_office_id=links["box_office_id"])["worldwide_gross_usd"] if links["box_office_id"] else 0
    ratio = gross / get_film_budget(film_id=film["film_id"])["budget_usd"]
except (TypeError, ZeroDivisionError):
    ratio = None
print("no ratio" if ratio is None else f"{ratio:.2f}", film.get("tagline") or film["title"])
for key in ("title", "year", "director"):
    if key in film:
        print(key, film[key])
