# tools: flights
# expect: wrong-argument-type line 5
# fault: hour must be an integer, but partition(':') of the scheduled time leaves it as text that reaches get_weather
def wind_at(airport, date, hour):
    reading = get_weather(airport=airport, date=date, hour=hour)
    return reading["wind_gust_mph"] or reading["wind_speed_mph"] or 0.0


legs = find_flights(airline="DL", flight_number=422, date="2013-11-01")
print(f"{len(legs)} flights")
for leg in legs:
    hour, _, minute = leg["scheduled_departure"].partition(":")
    wind = wind_at(leg["origin"], leg["date"], hour)
    print(f"{leg['flight_id']} was to leave at {hour}:{minute} in {wind:.1f} mph")
