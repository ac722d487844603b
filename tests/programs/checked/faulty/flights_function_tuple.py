# tools: flights
# kind: functions of the program
# expect: missing-key line 11
def best(hours):
    """The clearest hour and its reading."""
    top = max(hours, key=lambda h: h["visibility_miles"])
    return top["hour"], top


hour, reading = best(list_hourly_weather(airport="LGA", date="2013-12-24"))
print(hour, reading["wind"])
