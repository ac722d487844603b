# tools: flights
# expect: missing-key line 6
# says: scheduled_departure
flights = list_departures(origin="JFK", date="2013-01-01")["flights"]
for flight in flights:
    print(flight["departure_time"])
