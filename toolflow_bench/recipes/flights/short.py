"""Short recipes that read: one to four calls."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

NEAREST_AIRPORT = Recipe(
    id="nearest-airport",
    services=("flights",),
    split="short",
    type="number",
    program="""
centre = search_airports(query=$city, limit=1)[0]["code"]
print(list_nearby_airports(airport=centre, radius_km=$radius)[0]["distance_km"])
""",
    query="""
SELECT round(min(km(c.latitude, c.longitude, o.latitude, o.longitude)), 1)
FROM flights.airports c JOIN flights.airports o ON o.code <> c.code WHERE c.name = $airport_name
""",
    tolerance=0.05,
    cases=(
        Case(
            "How many kilometres is it from Denver International to the airport closest to it, as the crow flies "
            "(within 100 km there is one)? One decimal.",
            city="Denver International",
            airport_name="Denver Intl",
            radius=100,
        ),
        Case(
            "What is the distance in km, to a tenth, between Salt Lake City International and its nearest neighbour "
            "among the airports? Look up to 80 km around.",
            city="Salt Lake City International",
            airport_name="Salt Lake City Intl",
            radius=80,
        ),
        Case(
            "Within a 60 km circle about Phoenix Sky Harbor, how far off is the airport next to it? Kilometres, one "
            "digit after the point.",
            city="Phoenix Sky Harbor",
            airport_name="Phoenix Sky Harbor Intl",
            radius=60,
        ),
        Case(
            "Suppose Seattle Tacoma is closed: tell me how many kilometres away (rounded to 0.1) the nearest other "
            "airport lies; 70 km should be wide enough a search.",
            city="Seattle Tacoma",
            airport_name="Seattle Tacoma Intl",
            radius=70,
        ),
    ),
)

AN_AIRLINE_S_DAY = Recipe(
    id="an-airline-s-day",
    services=("flights",),
    split="short",
    type="number",
    program="""
airline = search_airlines(query=$airline)[0]["code"]
print(list_departures(origin=$origin, date=$date, airline=airline, page_size=1)["total"])
""",
    query="""
SELECT count(*) FROM flights.flights f JOIN flights.airlines a ON a.code = f.airline
WHERE a.name LIKE '%' || $airline || '%' AND f.origin = $origin AND f.date = $date
""",
    cases=(
        Case(
            "How many departures did JetBlue have on its Kennedy (JFK) schedule of 15 February 2013, cancelled ones "
            "included?",
            airline="JetBlue",
            origin="JFK",
            date="2013-02-15",
        ),
        Case(
            "Southwest at LaGuardia (LGA) on 9 May 2013: number of flights planned?",
            airline="Southwest",
            origin="LGA",
            date="2013-05-09",
        ),
        Case(
            "I need the count of ExpressJet flights that were to leave Newark (EWR) on the 21st of August 2013.",
            airline="ExpressJet",
            origin="EWR",
            date="2013-08-21",
        ),
        Case(
            "On 1 October 2013, what was the total of Envoy Air's scheduled flights out of LaGuardia (LGA)?",
            airline="Envoy",
            origin="LGA",
            date="2013-10-01",
        ),
    ),
)

TO_A_CITY = Recipe(
    id="to-a-city",
    services=("flights",),
    split="short",
    type="number",
    program="""
city = search_airports(query=$city, limit=1)[0]["code"]
print(list_arrivals(destination=city, date=$date, page_size=1)["total"])
""",
    query="""
SELECT count(*) FROM flights.flights f JOIN flights.airports d ON d.code = f.destination
WHERE d.name = $airport_name AND f.date = $date
""",
    cases=(
        Case(
            "All New York airports together, how many flights were scheduled to Raleigh Durham on 6 March 2013?",
            city="Raleigh Durham",
            airport_name="Raleigh Durham Intl",
            date="2013-03-06",
        ),
        Case(
            "Seattle Tacoma is where my sister lives. Count the flights there that were planned from any New York "
            "airport on 30 June 2013.",
            city="Seattle Tacoma",
            airport_name="Seattle Tacoma Intl",
            date="2013-06-30",
        ),
        Case(
            "For 27 November 2013, the day before Thanksgiving: flights from New York bound for Pittsburgh, total "
            "number?",
            city="Pittsburgh",
            airport_name="Pittsburgh Intl",
            date="2013-11-27",
        ),
    ),
)

HEIGHT_AT_THE_END = Recipe(
    id="height-at-the-end",
    services=("flights",),
    split="short",
    type="number",
    program="""
airline = search_airlines(query=$airline)[0]["code"]
flight = find_flights(airline=airline, flight_number=$number, date=$date)[0]
print(get_airport(airport=flight["destination"])["altitude_ft"])
""",
    query="""
SELECT d.altitude_ft FROM flights.flights f JOIN flights.airlines a ON a.code = f.airline
JOIN flights.airports d ON d.code = f.destination
WHERE a.name LIKE '%' || $airline || '%' AND f.flight_number = $number AND f.date = $date
""",
    cases=(
        Case(
            "At what elevation, in feet, is the airport that JetBlue 601 flew to on 28 August 2013?",
            airline="JetBlue",
            number=601,
            date="2013-08-28",
        ),
        Case(
            "Delta's flight 1443 of 8 July 2013 ended at an airport how many feet above sea level?",
            airline="Delta",
            number=1443,
            date="2013-07-08",
        ),
        Case(
            "Give the altitude in feet of the place where United 1643 was bound on 3 July 2013.",
            airline="United",
            number=1643,
            date="2013-07-03",
        ),
        Case(
            "How high (ft) does the destination lie which Envoy Air had on the board for its number 4655 on 5 June "
            "2013?",
            airline="Envoy",
            number=4655,
            date="2013-06-05",
        ),
    ),
)
RECIPES = (NEAREST_AIRPORT, AN_AIRLINE_S_DAY, TO_A_CITY, HEIGHT_AT_THE_END)
