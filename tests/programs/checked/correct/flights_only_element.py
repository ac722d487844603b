# tools: flights
# expect: none
(flight,) = find_flights(airline="UA", flight_number=15, date="2013-12-25")[:1]
status = get_flight_status(flight_id=flight["flight_id"])
print(status["status"], status["actual_departure"])
