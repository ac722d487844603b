# tools: flights
# kind: star and double-star unpacking
# expect: doubled-argument line 6
common = {"airport": "JFK", "date": "2013-03-01", "hour": 7}
for hour in range(6, 12):
    reading = get_weather(hour=hour, **common)
    print(reading["visibility_miles"])
