# tools: flights
# expect: no-attribute line 5
# says: ['tail_number']
for flight in list_departures(origin="JFK", date="2013-01-01")["flights"]:
    print(flight.tail_number)
