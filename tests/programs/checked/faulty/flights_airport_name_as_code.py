# tools: flights
# expect: wrong-argument-type line 5
airports = {"JFK": "Kennedy", "LGA": "LaGuardia"}
for code, name in airports.items():
    airport = get_airport(airport=name)
    print(code, airport["altitude_ft"])
