# tools: flights
# expect: none-value line 4
flights = list_departure_delays(origin="JFK", date="2013-01-01")["flights"]
print(sorted(flights, key=lambda f: f["departure_delay_minutes"])[-1]["flight_id"])
