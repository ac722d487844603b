# tools: flights
# kind: required argument left out in a function
# expect: missing-argument line 5
def describe(airport, day):
    reading = get_weather(airport=airport, date=day)
    wind = reading["wind_speed_mph"]
    return f"{airport}: {reading['temperature_f']} F, wind {wind if wind is not None else 'unknown'}"


for code in ("EWR", "JFK", "LGA"):
    print(describe(code, "2013-02-08"))
