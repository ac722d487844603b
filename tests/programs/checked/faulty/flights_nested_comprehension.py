# tools: flights
# kind: comprehensions
# expect: missing-key line 5
delays = [
    status["delay"]
    for flight in find_flights(airline="DL", flight_number=100, date="2013-01-05")
    for status in [get_flight_status(flight_id=flight["flight_id"])]
]
print(delays)
