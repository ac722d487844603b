# tools: flights
# kind: star and double-star unpacking
# expect: wrong-argument-type line 5
query = {"origin": "JFK", "date": "2013-01-01", "page": "2"}
print(list_departures(**query)["total"])
