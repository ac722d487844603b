# tools: flights
# expect: wrong-argument-type line 12
# fault: hour_of returns text (a part of 'HH:MM'), but get_weather takes an integer hour.
def hour_of(hhmm: str):
    hour, _minute = hhmm.split(":")
    return hour

matches = find_flights(airline="UA", flight_number=1545, date="2013-01-01")
for match in matches:
    schedule = get_flight(flight_id=match["flight_id"])
    departs_in = hour_of(schedule["scheduled_departure"])
    weather = get_weather(airport=schedule["origin"], date=schedule["date"], hour=departs_in)
    gust = weather["wind_gust_mph"]
    print(schedule["destination"], "no gusts" if gust is None else f"gusts of {gust:.0f} mph")
if not matches:
    print("No such flight.")
