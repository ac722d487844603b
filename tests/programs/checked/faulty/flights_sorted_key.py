# tools: flights
# kind: sorted(key=…)
# expect: missing-key line 5
hours = list_hourly_weather(airport="EWR", date="2013-11-11")
windiest = sorted(hours, key=lambda h: h["wind_mph"], reverse=True)[:3]
print([h["hour"] for h in windiest])
