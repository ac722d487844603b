# tools: movies
# expect: none
def box_office_of(title, year):
    hits = [f for f in search_films(title=title, from_year=year, to_year=year) if f["title"].lower() == title.lower()]
    match hits:
        case []:
            return None
        case [{"film_id": film_id}, *_]:
            links = get_film_links(film_id=film_id)
        case _:
            raise ValueError(hits)
    match links:
        case {"box_office_id": None}:
            return None
        case {"box_office_id": str(release_id)}:
            record = get_box_office(box_office_id=release_id)
            return record["released_on"], record["worldwide_gross_usd"] / 1_000_000
    return None


wanted = [("Iron Man", 2008), ("Doctor Strange", 2016), ("Casablanca", 1942)]
for title, year in wanted:
    if (found := box_office_of(title, year)) is not None:
        released, millions = found
        print(f"{title} {released}: {millions:,.0f} million")
    else:
        print(f"{title}: no figures")
