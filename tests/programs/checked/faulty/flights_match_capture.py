# tools: flights
# kind: match statements
# expect: no-attribute line 6
match get_flight(flight_id="a2b3c"):
    case {"origin": "JFK", "distance_miles": distance}:
        print(distance.km)
    case {"origin": origin}:
        print(origin)
