# tools: flights
# expect: not-a-list line 4
# says: ['flights']
for flight in list_departures(origin="JFK", date="2013-01-01"):
    print(flight["flight_id"])
