# tools: flights
# expect: missing-key line 5
# says: is in what these give: get_flight_status (flight_id)
(f,) = find_flights(airline="UA", flight_number=15, date="2013-12-25")
print(f["arrival_delay_minutes"])
