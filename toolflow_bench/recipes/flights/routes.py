"""Long recipes on airports and routes: where flights go, how far, how high, and who flies there."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

SAME_ZONE = Recipe(
    id="same-zone",
    services=("flights",),
    split="long",
    type="number",
    program="""
home = search_airports(query=$city, limit=1)[0]["code"]
zone = get_airport(airport=home)["time_zone"]
there, page = set(), 1
while True:
    answer = list_airports_in_time_zone(time_zone=zone, page=page, page_size=200)
    there |= {airport["code"] for airport in answer["airports"]}
    if page >= answer["pages"]:
        break
    page += 1
served = [code for code in list_destinations(origin=$origin) if code in there]
miles = [get_route(origin=$origin, destination=code)["distance_miles"] for code in served]
print(round(sum(miles) / len(miles), 1))
""",
    query="""
SELECT round(avg(miles), 1) FROM (
    SELECT max(f.distance_miles) AS miles FROM flights.flights f JOIN flights.airports d ON d.code = f.destination
    WHERE f.origin = $origin
    AND d.time_zone = (SELECT h.time_zone FROM flights.airports h WHERE h.name = $airport_name)
    GROUP BY f.destination)
""",
    tolerance=0.05,
    cases=(
        Case(
            "From Kennedy (JFK) there are nonstop flights to several airports in the same time zone as Los Angeles "
            "International. What is the mean length of these routes in miles, to one decimal?",
            city="Los Angeles International",
            airport_name="Los Angeles Intl",
            origin="JFK",
        ),
        Case(
            "Averaged over all destinations that Newark (EWR) serves directly and that keep Denver International's "
            "time zone, how many miles long is a route? One decimal, each destination once.",
            city="Denver International",
            airport_name="Denver Intl",
            origin="EWR",
        ),
        Case(
            "I compare hubs: please give me the average route distance, in miles rounded to a tenth, from LaGuardia "
            "(LGA) to the airports with nonstop service whose clocks agree with those of Chicago O'Hare.",
            city="Chicago O'Hare",
            airport_name="Chicago Ohare Intl",
            origin="LGA",
        ),
    ),
)

ZONES_BY_SIZE = Recipe(
    id="zones-by-size",
    services=("flights",),
    split="long",
    type="text",
    program="""
sizes = {
    zone: list_airports_in_time_zone(time_zone=zone, page_size=1)["total"] for zone in list_time_zones()
}
zone = sorted(sizes, key=sizes.get, reverse=True)[$place - 1]
there, page = set(), 1
while len(there) < sizes[zone]:
    answer = list_airports_in_time_zone(time_zone=zone, page=page, page_size=200)
    there |= {airport["code"] for airport in answer["airports"]}
    page += 1
airports = [get_airport(airport=code) for code in list_destinations(origin=$origin) if code in there]
print(max(airports, key=lambda airport: airport["altitude_ft"])["name"])
""",
    query="""
WITH zones AS (
    SELECT time_zone, row_number() OVER (ORDER BY count(*) DESC) AS place FROM flights.airports
    WHERE time_zone IS NOT NULL GROUP BY time_zone)
SELECT a.name FROM flights.airports a JOIN zones USING (time_zone)
WHERE place = $place AND EXISTS (SELECT 1 FROM flights.flights f WHERE f.origin = $origin AND f.destination = a.code)
ORDER BY a.altitude_ft DESC LIMIT 1
""",
    cases=(
        Case(
            "Rank the time zones by how many airports of your directory lie in them. In the zone that comes 5th, "
            "which airport with direct flights from Newark (EWR) is highest above the sea? Its name will do.",
            place=5,
            origin="EWR",
        ),
        Case(
            "Which airport has the greatest elevation among the nonstop destinations of Kennedy (JFK) situated in the "
            "time zone that has the 2nd largest number of airports? Please name it.",
            place=2,
            origin="JFK",
        ),
        Case(
            "Sort time zones from most to fewest airports and take number 2: what's the name of the highest-lying "
            "place in it that LaGuardia (LGA) has flights to?",
            place=2,
            origin="LGA",
        ),
    ),
)

AROUND_A_CITY = Recipe(
    id="around-a-city",
    services=("flights",),
    split="long",
    type="number",
    program="""
airline = search_airlines(query=$airline)[0]["code"]
centre = search_airports(query=$city, limit=1)[0]["code"]
codes = [centre] + [near["code"] for near in list_nearby_airports(airport=centre, radius_km=$radius)]
flights = 0
for code in codes:
    flights += list_arrivals(destination=code, date=$date, airline=airline, page_size=1)["total"]
print(flights)
""",
    query="""
SELECT count(*) FROM flights.flights f JOIN flights.airports d ON d.code = f.destination
JOIN flights.airports c ON c.name = $airport_name JOIN flights.airlines a ON a.code = f.airline
WHERE f.date = $date AND a.name LIKE '%' || $airline || '%'
AND km(c.latitude, c.longitude, d.latitude, d.longitude) <= $radius
""",
    cases=(
        Case(
            "How many United flights from New York were scheduled on 14 August 2013 to Los Angeles International or "
            "another airport within 60 km of it?",
            airline="United",
            city="Los Angeles International",
            airport_name="Los Angeles Intl",
            radius=60,
            date="2013-08-14",
        ),
        Case(
            "Count JetBlue's departures of 3 October 2013 bound for the San Francisco area, meaning San Francisco "
            "International and all airports at most 90 km away.",
            airline="JetBlue",
            city="San Francisco International",
            airport_name="San Francisco Intl",
            radius=90,
            date="2013-10-03",
        ),
        Case(
            "Southwest served Chicago Midway and maybe others near Chicago O'Hare. On 22 May 2013, what was the "
            "number of its flights planned from the New York airports to O'Hare itself plus everything no farther "
            "than 130 km?",
            airline="Southwest",
            city="Chicago O'Hare",
            airport_name="Chicago Ohare Intl",
            radius=130,
            date="2013-05-22",
        ),
        Case(
            "On 17 January 2013 ExpressJet sent planes towards Washington. Take Washington National and whatever "
            "airports lie inside a circle of 80 km around it: how many flights were scheduled there from New York in "
            "total?",
            airline="ExpressJet",
            city="Washington National",
            airport_name="Ronald Reagan Washington Natl",
            radius=80,
            date="2013-01-17",
        ),
    ),
)

RIVALS_ON_A_ROUTE = Recipe(
    id="rivals-on-a-route",
    services=("flights",),
    split="long",
    type="text",
    program="""
from datetime import date, timedelta

city = search_airports(query=$city, limit=1)[0]["code"]
days = [str(date.fromisoformat($first) + timedelta(days=day)) for day in range($days)]
flights = {}
for airline in list_route_airlines(origin=$origin, destination=city):
    flights[airline] = sum(
        list_departures(origin=$origin, date=day, airline=airline, destination=city, page_size=1)["total"]
        for day in days
    )
ranked = sorted(flights, key=flights.get, reverse=True)
print(get_airline(airline=ranked[1])["name"])
""",
    query="""
SELECT a.name FROM flights.flights f JOIN flights.airlines a ON a.code = f.airline
JOIN flights.airports d ON d.code = f.destination
WHERE f.origin = $origin AND d.name = $airport_name
AND f.date >= $first AND f.date < date($first, '+' || $days || ' days')
GROUP BY a.name ORDER BY count(*) DESC LIMIT 1 OFFSET 1
""",
    cases=(
        Case(
            "Several airlines compete between Kennedy (JFK) and San Francisco International. Which of them scheduled "
            "the second most flights on the three days from 10 to 12 September 2013?",
            origin="JFK",
            city="San Francisco International",
            airport_name="San Francisco Intl",
            first="2013-09-10",
            days=3,
        ),
        Case(
            "LaGuardia (LGA) to Charlotte, 4 to 6 March 2013: name the carrier that ranks second by number of "
            "scheduled departures, cancellations included.",
            origin="LGA",
            city="Charlotte",
            airport_name="Charlotte Douglas Intl",
            first="2013-03-04",
            days=3,
        ),
        Case(
            "Who came right behind the market leader (by planned flights, all of 6 and 7 June 2013 together) on the "
            "route from LaGuardia (LGA) to Nashville?",
            origin="LGA",
            city="Nashville",
            airport_name="Nashville Intl",
            first="2013-06-06",
            days=2,
        ),
    ),
)

WORST_AIRLINE_OF_A_DAY = Recipe(
    id="worst-airline-of-a-day",
    services=("flights",),
    split="long",
    type="text",
    program="""
lost = {}
for airline in list_airlines():
    code = airline["code"]
    lost[code] = list_cancelled_flights(date=$date, origin=$origin, airline=code, page_size=1)["total"]
worst = sorted(lost, key=lost.get, reverse=True)[$place - 1]
page = list_cancelled_flights(date=$date, origin=$origin, airline=worst, page_size=200)
flights = [get_flight(flight_id=flight["flight_id"]) for flight in page["flights"]]
farthest = max(flights, key=lambda flight: flight["distance_miles"])
print(get_airport(airport=farthest["destination"])["name"])
""",
    query="""
WITH lost AS (SELECT * FROM flights.flights WHERE date = $date AND origin = $origin AND actual_departure IS NULL),
ranked AS (SELECT airline, row_number() OVER (ORDER BY count(*) DESC) AS place FROM lost GROUP BY airline)
SELECT d.name FROM lost JOIN ranked USING (airline) JOIN flights.airports d ON d.code = lost.destination
WHERE place = $place ORDER BY lost.distance_miles DESC LIMIT 1
""",
    cases=(
        Case(
            "On 28 June 2013 one airline cancelled more flights from Newark (EWR) than any other. What is the name of "
            "the most distant airport (in flight miles) that one of these cancelled flights was to reach?",
            date="2013-06-28",
            origin="EWR",
            place=1,
        ),
        Case(
            "Which was the farthest destination, by miles flown, among the flights out of LaGuardia (LGA) called off "
            "on 23 May 2013 by the airline with the 2nd highest count of cancellations there that day? Airport name, "
            "please.",
            date="2013-05-23",
            origin="LGA",
            place=2,
        ),
        Case(
            "The snow of 8 March 2013 hit Kennedy (JFK). Consider only the carrier that comes 2nd by number of "
            "cancelled departures at that airport, and tell me to what airport its longest cancelled flight would "
            "have gone.",
            date="2013-03-08",
            origin="JFK",
            place=2,
        ),
    ),
)
RECIPES = (SAME_ZONE, ZONES_BY_SIZE, AROUND_A_CITY, RIVALS_ON_A_ROUTE, WORST_AIRLINE_OF_A_DAY)
