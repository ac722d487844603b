# tools: movies
# expect: none
from datetime import date, datetime, timedelta
from itertools import product

taken = {(s["date"], s["hall"], s["start_time"]) for s in list_screenings()}
days = [date(2027, 6, 4) + timedelta(days=n) for n in range(10)]
free = [
    slot
    for slot in product(map(date.isoformat, days), ("red", "blue", "garden"), (f"{h}:00" for h in (14, 17, 20)))
    if slot not in taken
]

film = search_films(title="Metropolis", to_year=1930, limit=1)[0]
weekend = [s for s in free if datetime.strptime(s[0], "%Y-%m-%d").weekday() >= 5 and s[2] == "20:00"]
if weekend:
    day, hall, start = weekend[-1]
    screening = schedule_screening(**dict(zip(("film_id", "date", "hall", "start_time"), (film["film_id"], day, hall, start))))
    when = datetime.fromisoformat(f"{screening['date']}T{screening['start_time']}")
    print(f"{film['title']}: {when:%A %d %B, %H:%M} in {screening['hall']}")
else:
    print("no free evening")
