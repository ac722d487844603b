# tools: flights
# expect: none
routes = {}
for origin in ("EWR", "JFK", "LGA"):
    for f in list_departures(origin=origin, date="2013-06-01")["flights"]:
        key = (origin, f["destination"])
        routes[key] = routes.get(key, 0) + 1
(origin, destination), count = max(routes.items(), key=lambda kv: (kv[1], kv[0]))
print(origin, destination, count)
