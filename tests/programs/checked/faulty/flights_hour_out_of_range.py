# tools: flights
# expect: bad-literal line 4
# says: at most 23
print(get_weather(airport="JFK", date="2013-01-01", hour=24)["temperature_f"])
