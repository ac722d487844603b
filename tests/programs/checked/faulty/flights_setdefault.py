# tools: flights
# kind: setdefault
# expect: missing-key line 8
by_origin = {}
for flight in list_cancelled_flights(date="2013-02-09")["flights"]:
    by_origin.setdefault(flight["origin"], []).append(flight)
for origin, flights in by_origin.items():
    print(origin, flights[0]["tail_number"])
