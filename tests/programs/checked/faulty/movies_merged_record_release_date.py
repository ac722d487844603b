# tools: movies
# expect: missing-key line 16
# fault: neither a film nor a box-office record has release_date (it is released_on), so the sort key raises KeyError.
releases, page = [], 1
while page:
    chunk = list_box_office(page=page)
    releases.extend(chunk["releases"])
    page = page + 1 if page < chunk["pages"] else 0

records = []
for release in releases:
    money = get_box_office(box_office_id=release["box_office_id"])
    film = get_film(film_id=money["film_id"])
    records.append(film | money | {"abroad": money["worldwide_gross_usd"] - money["domestic_gross_usd"]})

records.sort(key=lambda r: (r["release_date"], r["title"]))
for position, record in enumerate(records, start=1):
    print(f'{position:>2}. {record["title"]} earned ${record["abroad"]:,} abroad')
