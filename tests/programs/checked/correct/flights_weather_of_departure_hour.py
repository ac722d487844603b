# tools: flights
# expect: none
# why: The hour is made from text by map(int, ...) and unpacked; the readings may be null, which the patterns (None, _) and (_, None) catch before the format.
from functools import lru_cache

DATE, ORIGIN = "2013-01-25", "LGA"


@lru_cache(maxsize=None)
def sky(hour):
    w = get_weather(airport=ORIGIN, date=DATE, hour=hour)
    match w["temperature_f"], w["wind_speed_mph"]:
        case (None, _) | (_, None):
            return "no reading"
        case (degrees, wind):
            gust = w["wind_gust_mph"]
            return f"{(degrees - 32) * 5 / 9:.0f} C, {max(wind, gust or 0):.0f} mph"


page = list_departures(origin=ORIGIN, date=DATE, destination="ORD", page_size=30)
for flight in page["flights"]:
    hour, minute = map(int, flight["scheduled_departure"].split(":"))
    label = "{airline} {flight_number:>4}".format(**flight)
    print(f"{hour:02}:{minute:02} {label} {sky(hour=hour)}")
print(f"{len(page['flights'])} of {page['total']} flights")
