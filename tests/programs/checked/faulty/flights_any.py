# tools: flights
# kind: comprehensions
# expect: missing-key line 5
board = list_departures(origin="JFK", date="2013-12-23")
print(any(flight["cancelled"] for flight in board["flights"]))
