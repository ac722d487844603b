# tools: flights
# expect: wrong-argument-type line 5
# says: ['code']
boston = search_airports(query="Boston")[0]
print(list_destinations(origin="JFK"), get_airport(airport=boston)["name"])
