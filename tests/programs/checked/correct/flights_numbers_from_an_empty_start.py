# tools: flights
# expect: none
best, best_distance = None, -1
for code in list_destinations(origin="JFK"):
    route = get_route(origin="JFK", destination=code)
    if route["distance_miles"] > best_distance:
        best, best_distance = code, route["distance_miles"]
print(get_airport(airport=best)["name"], best_distance)
