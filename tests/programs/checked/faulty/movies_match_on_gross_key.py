# tools: movies
# expect: missing-key line 7
# fault: get_box_office has no key gross_usd (it has domestic_gross_usd and worldwide_gross_usd), so the case can never match
best_gross, best_film = 0, None
for release in list_box_office(page_size=50)["releases"]:
    match get_box_office(box_office_id=release["box_office_id"]):
        case {"gross_usd": int(gross), "film_id": film_id} if gross > best_gross:
            best_gross, best_film = gross, film_id
        case _:
            pass

if best_film is None:
    print("No figures")
else:
    print(f"{get_film(film_id=best_film)['title']}: ${best_gross / 1e6:,.0f} million")
