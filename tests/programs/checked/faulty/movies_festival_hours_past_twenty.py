# tools: movies
# expect: bad-literal line 14
# fault: range(14, 24, 3) also gives 23, and '23:00' is not one of the start times 14:00, 17:00, 20:00
day = "2027-06-05"
halls = ("red", "blue", "garden")
taken = {(s["hall"], s["start_time"]) for s in list_screenings(date=day)}
times = [f"{hour}:00" for hour in range(14, 24, 3)]

planned = []
for film, hall in zip(search_films(title="Metropolis", to_year=1960, limit=3), halls):
    for start in times:
        if (hall, start) in taken:
            continue
        planned.append(schedule_screening(film_id=film["film_id"], hall=hall, date=day, start_time=start))
        taken.add((hall, start))

for s in sorted(planned, key=lambda s: (s["start_time"], s["hall"])):
    print(s["start_time"], s["hall"], s["screening_id"])
