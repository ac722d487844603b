# tools: movies
# expect: none
# why: film is set in the for loop before break; the else branch ends the search by an own exception, which is caught
class NotHeld(LookupError):
    pass

def find(title):
    for release in list_box_office(page_size=200)["releases"]:
        money = get_box_office(box_office_id=release["box_office_id"])
        film = get_film(film_id=money["film_id"])
        if film["title"].lower() == title.lower():
            break
    else:
        raise NotHeld(title)
    return film, money

for title in "Iron Man", "Casablanca":
    try:
        film, money = find(title)
    except NotHeld as error:
        print("not held:", error.args[0])
    else:
        multiple = money["domestic_gross_usd"] / (money["opening_weekend_usd"] or 1)
        print(f"{film['title']!r}: {multiple:.2f} times its opening weekend")
