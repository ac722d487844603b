# tools: flights
# expect: none
worst = list_departure_delays(origin="JFK", date="2013-03-05", min_delay_minutes=60)["flights"]
print(max(worst, key=lambda f: f["departure_delay_minutes"])["flight_id"])
