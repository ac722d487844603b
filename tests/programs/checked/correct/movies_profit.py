# tools: movies
# expect: none
def profit(film_id):
    links = get_film_links(film_id=film_id)
    budget = get_film_budget(film_id=film_id)["budget_usd"]
    if links["box_office_id"] is None or budget is None:
        return None
    return get_box_office(box_office_id=links["box_office_id"])["worldwide_gross_usd"] - budget


results = {}
for film in search_films(title="Matrix", from_year=1999, to_year=2003):
    gain = profit(film["film_id"])
    if gain is not None:
        results[film["title"]] = gain
for title, gain in sorted(results.items(), key=lambda kv: kv[1], reverse=True):
    print(f"{title}: {gain:,} USD")
