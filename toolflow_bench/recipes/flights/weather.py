"""Long recipes on the weather that flights met."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

WEATHER_AT_TAKEOFF = Recipe(
    id="weather-at-takeoff",
    services=("flights",),
    split="long",
    type="number",
    program="""
airline = search_airlines(query=$airline)[0]["code"]
city = search_airports(query=$city, limit=1)[0]["code"]
page = list_departures(origin=$origin, date=$date, airline=airline, destination=city, page_size=200)
hours = set()
for flight in page["flights"]:
    left = get_flight_status(flight_id=flight["flight_id"])["actual_departure"]
    if left is not None:
        hours.add(int(left[:2]))
winds = [get_weather(airport=$origin, date=$date, hour=hour)["wind_speed_mph"] for hour in sorted(hours)]
print(round(max(winds), 2))
""",
    query="""
SELECT round(max(w.wind_speed_mph), 2) FROM flights.flights f JOIN flights.airlines a ON a.code = f.airline
JOIN flights.airports d ON d.code = f.destination
JOIN flights.weather w
ON w.airport = f.origin AND w.date = f.date AND w.hour = CAST(substr(f.actual_departure, 1, 2) AS INTEGER)
WHERE a.name LIKE '%' || $airline || '%' AND d.name = $airport_name AND f.origin = $origin AND f.date = $date
""",
    tolerance=0.05,
    cases=(
        Case(
            "For each of Delta's flights from Kennedy (JFK) to Los Angeles International on 14 May 2013, take the "
            "wind speed at Kennedy in the hour in which it really took off. What is the highest of these, in mph with "
            "two decimals?",
            airline="Delta",
            origin="JFK",
            city="Los Angeles International",
            airport_name="Los Angeles Intl",
            date="2013-05-14",
        ),
        Case(
            "United ran a shuttle of flights from Newark (EWR) to San Francisco International on 18 April 2013. How "
            "strong did the wind blow at Newark, at most, in the hours when they actually departed? Miles per hour, "
            "two decimals.",
            airline="United",
            origin="EWR",
            city="San Francisco International",
            airport_name="San Francisco Intl",
            date="2013-04-18",
        ),
        Case(
            "Looking at LaGuardia (LGA) on 12 November 2013: American's planes left for Dallas Fort Worth at various "
            "hours. Give me the maximum hourly wind speed (mph, to two decimals) that any of them met on its real "
            "departure.",
            airline="American",
            origin="LGA",
            city="Dallas Fort Worth",
            airport_name="Dallas Fort Worth Intl",
            date="2013-11-12",
        ),
    ),
)

WINDIEST_HOUR = Recipe(
    id="windiest-hour",
    services=("flights",),
    split="long",
    type="set",
    program="""
import json
from datetime import date, timedelta

airline = search_airlines(query=$airline)[0]["code"]
winds = []
for number in range($days):
    day = str(date.fromisoformat($first) + timedelta(days=number))
    for hour in list_hourly_weather(airport=$origin, date=day):
        if hour["wind_speed_mph"] is not None and hour["hour"] >= $from_hour:
            winds.append((hour["wind_speed_mph"], day, hour["hour"]))
_, day, hour = max(winds)
page = list_departures(
    origin=$origin, date=day, airline=airline, from_hour=hour, to_hour=hour, page_size=200
)
codes = {flight["destination"] for flight in page["flights"]}
print(json.dumps([get_airport(airport=code)["name"] for code in sorted(codes)]))
""",
    query="""
WITH windiest AS (
    SELECT date, hour FROM flights.weather WHERE airport = $origin AND hour >= $from_hour
    AND date >= $first AND date < date($first, '+' || $days || ' days') ORDER BY wind_speed_mph DESC LIMIT 1)
SELECT DISTINCT d.name FROM windiest w JOIN flights.flights f
ON f.date = w.date AND CAST(substr(f.scheduled_departure, 1, 2) AS INTEGER) = w.hour
JOIN flights.airports d ON d.code = f.destination JOIN flights.airlines a ON a.code = f.airline
WHERE f.origin = $origin AND a.name LIKE '%' || $airline || '%'
""",
    cases=(
        Case(
            "Find the windiest hour, night hours before 6 left out, at LaGuardia (LGA) in the 5 days from 28 January "
            "2013 on, by wind speed. To which airports, by name, were Delta's flights bound that were scheduled to "
            "leave in that very hour?",
            airline="Delta",
            origin="LGA",
            first="2013-01-28",
            days=5,
            from_hour=6,
        ),
        Case(
            "At Kennedy (JFK), during the 6 days starting 4 March 2013, when did the wind blow fastest, from hour 7 "
            "of a day on? List the names of the destinations of JetBlue departures planned for that hour of that day.",
            airline="JetBlue",
            origin="JFK",
            first="2013-03-04",
            days=6,
            from_hour=7,
        ),
        Case(
            "Where would United's passengers have been going from Newark (EWR), had they sat in a plane scheduled for "
            "the gale hour, that is, the one of greatest wind speed from hour 6 of a day onwards within 7 days "
            "beginning on 21 March 2013? Airport names.",
            airline="United",
            origin="EWR",
            first="2013-03-21",
            days=7,
            from_hour=6,
        ),
    ),
)
RECIPES = (WEATHER_AT_TAKEOFF, WINDIEST_HOUR)
