# tools: flights
# expect: wrong-argument-type line 5
legs = find_flights(airline="AA", flight_number=1, date="2013-05-14")
for leg in legs:
    airport = get_airport(airport="K" + get_flight(flight_id=leg["flight_id"])["origin"])
    print(airport["name"])
