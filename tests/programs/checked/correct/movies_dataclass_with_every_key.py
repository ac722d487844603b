# tools: movies
# expect: none
# why: Film(**record) gets exactly the five keys that the closed response always has
from dataclasses import dataclass, field

@dataclass
class Film:
    sort_index: tuple = field(init=False, repr=False)
    film_id: str
    title: str
    year: int
    runtime_minutes: int | None = None
    certificate_id: str | None = None

    def __post_init__(self):
        self.sort_index = (self.year, self.title)

    @property
    def certificate(self):
        return self.certificate_id and get_certificate(certificate_id=self.certificate_id)["code"]

films = [Film(**get_film(film_id=f["film_id"])) for f in search_films(title="Batman", limit=8)]
films.sort(key=lambda f: f.sort_index)
for film in films:
    hours = "?" if film.runtime_minutes is None else f"{film.runtime_minutes / 60:.1f}h"
    print(film.year, film.title, hours, film.certificate or "unrated")
