# tools: flights
# expect: wrong-operand line 4
flights = list_departures(origin="JFK", date="2013-01-01")["flights"]
print([f for f in flights if f["scheduled_departure"] > 1200])
