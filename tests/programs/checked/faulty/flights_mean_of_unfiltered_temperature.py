# tools: flights
# expect: none-value line 11
# fault: the filter tests wind_speed_mph, but temperature_f may be null by itself, so statistics.mean gets None among its numbers.
from statistics import mean

def average_temperature(airport, date):
    hours = list_hourly_weather(airport=airport, date=date)
    usable = [h for h in hours if h["wind_speed_mph"] is not None]
    if not usable:
        return None
    return mean(h["temperature_f"] for h in usable)

results = {}
for airport in ["EWR", "JFK", "LGA"]:
    value = average_temperature(airport, "2013-02-09")
    if value is not None:
        results[airport] = value

for airport, value in sorted(results.items(), key=lambda kv: kv[1]):
    print(f"{airport}: {value:.1f} F")
