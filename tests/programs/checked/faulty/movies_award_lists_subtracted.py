# tools: movies
# expect: wrong-operand line 12
# fault: list_person_awards and list_film_awards give lists, and a list minus a list raises TypeError.
people = search_people(name="Katharine Hepburn")
film = next(iter(search_films(title="On Golden Pond", from_year=1981, to_year=1981)), None)

if not people or film is None:
    print("Nothing found.")
else:
    won = list_person_awards(person_id=people[0]["person_id"])
    with_film = list_film_awards(film_id=film["film_id"])
    others = won - with_film
    years = sorted(get_award(award_id=a)["ceremony_year"] for a in others)
    print("Other wins:", *years)
