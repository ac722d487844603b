# tools: movies
# expect: none
import itertools

taken = {(s["date"], s["hall"], s["start_time"]) for s in list_screenings(date="2027-06-05")}
free = [
    (hall, time)
    for hall, time in itertools.product(("red", "blue", "garden"), ("14:00", "17:00", "20:00"))
    if ("2027-06-05", hall, time) not in taken
]
if not free:
    print("full")
else:
    hall, time = free[0]
    made = schedule_screening(film_id="fm_a2b3c", hall=hall, date="2027-06-05", start_time=time)
    print(made["screening_id"], made["hall"])
