# tools: movies
# expect: none
from collections.abc import Iterator
from itertools import islice


def films_of(genre_id: str, **filters: int) -> Iterator[str]:
    page, pages = 1, 1
    while page <= pages:
        answer = list_films_of_genre(genre_id=genre_id, page=page, **filters)
        pages = answer["pages"]
        for film in answer["films"]:
            yield film["film_id"]
        page += 1


genres = {genre["name"].lower(): genre["genre_id"] for genre in list_genres()}
for film_id in islice(films_of(genres["western"], year=1956), 5):
    print(get_film(film_id=film_id)["title"])
