# tools: movies
# kind: generators
# expect: missing-key line 11
def films(year):
    for film in list_films_of_year(year=year)["films"]:
        yield get_film(film_id=film["film_id"])


def long_ones(source, minutes):
    for film in source:
        if (film["length"] or 0) > minutes:
            yield film


print([film["title"] for film in long_ones(films(1962), 180)])
