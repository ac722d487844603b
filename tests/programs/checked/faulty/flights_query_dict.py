# tools: flights
# kind: star and double-star unpacking
# expect: unknown-argument line 5
query = {"origin": "JFK", "day": "2013-01-01"}
print(list_departures(**query)["total"])
