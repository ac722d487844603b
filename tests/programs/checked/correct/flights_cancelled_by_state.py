# tools: flights
# expect: none
for f in find_flights(airline="UA", flight_number=15, date="2013-12-25"):
    status = get_flight_status(flight_id=f["flight_id"])
    if status["status"] == "cancelled":
        continue
    print(status["departure_delay_minutes"] + 1, status["actual_departure"][:2])
