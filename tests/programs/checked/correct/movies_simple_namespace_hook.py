# tools: movies
# expect: none
# why: dicts become SimpleNamespace objects by json's object_hook, so attribute access is right; nullable fields are tested by truth in conditional expressions
import json
from types import SimpleNamespace


def soft(value):
    return json.loads(json.dumps(value), object_hook=lambda d: SimpleNamespace(**d))


found = soft(search_films(title="Rocky", to_year=1990))
for film in found:
    record = soft(get_film(film_id=film.film_id))
    minutes = record.runtime_minutes
    length = f"{minutes // 60}h{minutes % 60:02d}" if minutes else "length unknown"
    code = soft(get_certificate(certificate_id=record.certificate_id)).code if record.certificate_id else "-"
    print(film.title, film.year, length, code, sep=" | ")
print(len(found), "films")
