# tools: flights
# expect: none
hours = list_hourly_weather(airport="EWR", date="2013-07-18")
known = [h for h in hours if h["temperature_f"] is not None]
hottest = max(known, key=lambda h: h["temperature_f"])
print(hottest["hour"], hottest["temperature_f"], round(sum(h["temperature_f"] for h in known) / len(known), 1))
