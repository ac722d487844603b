# tools: flights
# kind: range
# expect: bad-literal line 4
print(get_weather(airport="EWR", date="2013-05-05", hour=24)["temperature_f"])
