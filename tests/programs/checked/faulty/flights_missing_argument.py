# tools: flights
# kind: missing argument
# expect: missing-argument line 5
for airport in ("EWR", "JFK", "LGA"):
    weather = get_weather(airport=airport, date="2013-07-04")
    print(airport, weather["temperature_f"])
