# tools: flights
# kind: unpacking
# expect: missing-key line 5
airport, weather = get_airport(airport="BOS"), get_weather(airport="JFK", date="2013-08-08", hour=9)
print(airport["name"], weather["humidity"])
