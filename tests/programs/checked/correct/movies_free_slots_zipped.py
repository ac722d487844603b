# tools: movies
# expect: none
# why: enum values and dates come out of itertools.product and date arithmetic, and a zipped pair with a nested tuple is unpacked in the loop
from datetime import date, timedelta
from itertools import product

days = [(date(2027, 6, 4) + timedelta(n)).isoformat() for n in range(10)]
taken = {(s["date"], s["start_time"], s["hall"]) for s in list_screenings()}
free = (
    slot
    for slot in product(days, ("14:00", "17:00", "20:00"), ("red", "blue", "garden"))
    if slot not in taken
)
wished = (item["film_id"] for item in list_film_watchlist() if item["priority"] == "high")
done = [
    schedule_screening(film_id=film_id, date=day, start_time=start, hall=hall)
    for film_id, (day, start, hall) in zip(wished, free)
]
print(f"{len(done)} planned", *(f"{s['date']} {s['start_time']} {s['hall']}" for s in done), sep="\n")
