# tools: flights
# expect: never-equal line 5
# says: pattern
flights = list_departures(origin="JFK", date="2013-01-01")["flights"]
print(len([f for f in flights if f["airline"] == "United Airlines"]))
