# tools: flights
# kind: lists under keys of a plain dict that is never given one
# expect: missing-key line 6
routes = {}
for flight in list_arrivals(destination="SFO", date="2013-02-14", page_size=8)["flights"]:
    routes[flight["origin"]].append(flight["flight_number"])
for origin, numbers in sorted(routes.items()):
    print(origin, len(numbers))
