# tools: flights
# expect: none-value line 13
# fault: departure_delay_minutes may be null (cancelled flights are listed without min_delay_minutes), so max compares None with int
delays = {}
page, pages = 1, 1
while page <= pages:
    batch = list_departure_delays(origin="LGA", date="2013-02-08", page=page, page_size=200)
    pages = batch["pages"]
    delays.update((f["flight_id"], f["departure_delay_minutes"]) for f in batch["flights"])
    page += 1

if delays:
    worst = max(delays, key=delays.get)
    flight = get_flight(flight_id=worst)
    print(f"{flight['airline']}{flight['flight_number']} to {flight['destination']}: {delays[worst]} minutes")
else:
    print("No flights left that day")
