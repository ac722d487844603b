# tools: flights
# expect: none
hours = list_hourly_weather(airport="EWR", date="2013-12-14")
columns = {key: [hour[key] for hour in hours] for key in hours[0]}
known = [(t, h) for t, h in zip(columns["temperature_f"], columns["hour"]) if t is not None]
coldest, at = min(known, default=(None, None))
wet = sum(columns["precipitation_inches"])
if coldest is None:
    print("no reading")
else:
    print(f"{coldest:.1f} F at {at:02d}:00, {wet:.2f} in", "poor" if min(columns["visibility_miles"]) < 1 else "fair")
