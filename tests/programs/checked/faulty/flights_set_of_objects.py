# tools: flights
# kind: comprehensions
# expect: unhashable line 5
flights = list_departures(origin="JFK", date="2013-04-01")["flights"]
print(len(set(flights)))
