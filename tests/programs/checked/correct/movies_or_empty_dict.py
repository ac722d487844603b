# tools: movies
# expect: none
def money(film):
    links = get_film_links(film_id=film["film_id"])
    record = get_box_office(box_office_id=links["box_office_id"]) if links["box_office_id"] else {}
    return record.get("worldwide_gross_usd", 0) - (get_film_budget(film_id=film["film_id"])["budget_usd"] or 0)


films = search_films(title="Avengers", from_year=2012, to_year=2019, limit=4)
table = {f["title"]: money(f) for f in films}
for title, profit in sorted(table.items(), key=lambda kv: (-kv[1], kv[0])):
    print(f"{title:<40}{profit:>15,}")
