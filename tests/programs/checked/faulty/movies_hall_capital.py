# tools: movies
# kind: enum value with capital letter from a list
# expect: wrong-argument-type line 15
from datetime import date, timedelta
from itertools import cycle

queue = ["Vertigo", "Psycho", "Rebecca"]
halls = cycle(["Red", "Blue", "Garden"])
first_day = date(2027, 6, 10)

planned = []
for offset, title in enumerate(queue):
    film = search_films(title=title, to_year=1965, limit=1)[0]
    day = (first_day + timedelta(days=offset)).isoformat()
    screening = schedule_screening(film_id=film["film_id"], hall=next(halls), date=day, start_time="17:00")
    planned.append((screening["date"], screening["hall"], film["title"]))

for day, hall, title in sorted(planned):
    print(day, hall, title)
