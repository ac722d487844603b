"""Long recipes on the flights of an airline or an airport on a date, and the planes they used."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

LATE_ON_THE_EDGE_OF_THE_YEAR = Recipe(
    id="late-on-the-edge",
    services=("flights",),
    split="long",
    type="text",
    program="""
day = get_available_dates()[$which]
page = list_departure_delays(origin=$origin, date=day, min_delay_minutes=$minutes, page_size=200)
flights = [get_flight(flight_id=late["flight_id"]) for late in page["flights"]]
farthest = max(flights, key=lambda flight: flight["distance_miles"])
print(get_airport(airport=farthest["destination"])["name"])
""",
    query="""
SELECT d.name FROM flights.flights f JOIN flights.airports d ON d.code = f.destination
WHERE f.date = (SELECT CASE $which WHEN 'last_date' THEN max(date) ELSE min(date) END FROM flights.flights)
AND f.origin = $origin AND f.departure_delay_minutes >= $minutes ORDER BY f.distance_miles DESC LIMIT 1
""",
    cases=(
        Case(
            "On the very first day your records cover, which was the farthest airport, in flight miles, that a flight "
            "from Newark (EWR) was bound for which left at least 60 minutes late? Give the airport's name.",
            which="first_date",
            origin="EWR",
            minutes=60,
        ),
        Case(
            "Take the last day in the data. Among Kennedy (JFK) departures delayed by 25 minutes or more, tell me the "
            "name of the most remote destination by distance flown.",
            which="last_date",
            origin="JFK",
            minutes=25,
        ),
        Case(
            "Name the airport at the end of the longest trip (miles) from LaGuardia (LGA) that started with a "
            "departure delay of no less than 40 minutes, on the earliest date with any flights.",
            which="first_date",
            origin="LGA",
            minutes=40,
        ),
    ),
)

SMALLEST_PLANE = """
airline = search_airlines(query=$airline)[0]["code"]
city = search_airports(query=$city, limit=1)[0]["code"]
page = list_departures(origin=$origin, date=$date, airline=airline, destination=city, page_size=200)
tails = sorted({flight["tail_number"] for flight in page["flights"] if flight["tail_number"]})
smallest = min((get_plane(tail_number=tail) for tail in tails), key=lambda plane: plane["seats"])
print(smallest["model"] if smallest["seats"] <= $seats else "no such plane")
"""
SMALLEST_PLANE_QUERY = """
SELECT DISTINCT p.model FROM flights.flights f JOIN flights.airlines a ON a.code = f.airline
JOIN flights.airports d ON d.code = f.destination JOIN flights.planes p USING (tail_number)
WHERE a.name LIKE '%' || $airline || '%' AND d.name = $airport_name AND f.origin = $origin AND f.date = $date
AND p.seats <= $seats
"""
A_SMALL_PLANE = Recipe(
    id="a-small-plane",
    services=("flights",),
    split="long",
    type="text",
    program=SMALLEST_PLANE,
    query=SMALLEST_PLANE_QUERY,
    cases=(
        Case(
            "I dislike small planes. On 8 August 2013, did any plane assigned to a Delta flight from LaGuardia (LGA) "
            "to Atlanta have 142 seats or fewer? Tell me its model, or say that there was none.",
            airline="Delta",
            origin="LGA",
            city="Atlanta",
            airport_name="Hartsfield Jackson Atlanta Intl",
            date="2013-08-08",
            seats=142,
        ),
        Case(
            "JetBlue flew from Kennedy (JFK) to Boston all day on 16 September 2013. Which aircraft model among those "
            "used had at most 30 seats? If there was no such plane, answer none.",
            airline="JetBlue",
            origin="JFK",
            city="Boston",
            airport_name="General Edward Lawrence Logan Intl",
            date="2013-09-16",
            seats=30,
        ),
    ),
)
NO_SMALL_PLANE = Recipe(
    id="no-small-plane",
    services=("flights",),
    split="long",
    type="none",
    program=SMALLEST_PLANE,
    query=SMALLEST_PLANE_QUERY,
    cases=(
        Case(
            "Newark (EWR) to Los Angeles International with United, 25 June 2013: what model was the aircraft with no "
            "more than 100 seats? Answer none in case there was not any.",
            airline="United",
            origin="EWR",
            city="Los Angeles International",
            airport_name="Los Angeles Intl",
            date="2013-06-25",
            seats=100,
        ),
        Case(
            "Please check whether Virgin America put a plane of 120 seats or less on its Kennedy (JFK) - San "
            "Francisco International service on 2 May 2013, and give the model, else none.",
            airline="Virgin America",
            origin="JFK",
            city="San Francisco International",
            airport_name="San Francisco Intl",
            date="2013-05-02",
            seats=120,
        ),
    ),
)

SEATS_OF_A_NUMBER = """
airline = search_airlines(query=$airline)[0]["code"]
page = list_flight_dates(
    airline=airline, flight_number=$number, start_date=$start, end_date=$end, page_size=200
)
seats = {}
for flight in page["flights"]:
    tail = get_flight(flight_id=flight["flight_id"])["tail_number"]
    if tail is not None:
        seats[flight["date"]] = get_plane(tail_number=tail)["seats"]
date = min(seats, key=seats.get)
print(date if seats[date] <= $seats else "none")
"""
SEATS_OF_A_NUMBER_QUERY = """
SELECT f.date FROM flights.flights f JOIN flights.airlines a ON a.code = f.airline
JOIN flights.planes p USING (tail_number)
WHERE a.name LIKE '%' || $airline || '%' AND f.flight_number = $number AND f.date BETWEEN $start AND $end
AND p.seats <= $seats
"""
A_DAY_WITH_FEW_SEATS = Recipe(
    id="a-day-with-few-seats",
    services=("flights",),
    split="long",
    type="text",
    program=SEATS_OF_A_NUMBER,
    query=SEATS_OF_A_NUMBER_QUERY,
    cases=(
        Case(
            "On which date from 1 to 12 August 2013 did the plane of JetBlue flight 27 have just 60 seats or fewer? "
            "Answer YYYY-MM-DD, or none if it never happened.",
            airline="JetBlue",
            number=27,
            start="2013-08-01",
            end="2013-08-12",
            seats=60,
        ),
        Case(
            "JetBlue 153 normally flies with a big aircraft. Was there a day from 1 to 12 March 2013 when the one "
            "used had no more than 60 seats, and if so which (as YYYY-MM-DD)? Otherwise reply none.",
            airline="JetBlue",
            number=153,
            start="2013-03-01",
            end="2013-03-12",
            seats=60,
        ),
    ),
)
NO_DAY_WITH_FEW_SEATS = Recipe(
    id="no-day-with-few-seats",
    services=("flights",),
    split="long",
    type="none",
    program=SEATS_OF_A_NUMBER,
    query=SEATS_OF_A_NUMBER_QUERY,
    cases=(
        Case(
            "When, in the first twelve days of July 2013, was Delta's flight 27 operated by an aircraft with at most "
            "100 seats? Give the date as YYYY-MM-DD; write none if it was not.",
            airline="Delta",
            number=27,
            start="2013-07-01",
            end="2013-07-12",
            seats=100,
        ),
        Case(
            "A friend swears that her JetBlue 89, some day of 1-10 July 2013, was a plane of 120 seats or less. What "
            "day (YYYY-MM-DD) could that have been? Say none if she is mistaken.",
            airline="JetBlue",
            number=89,
            start="2013-07-01",
            end="2013-07-10",
            seats=120,
        ),
    ),
)
RECIPES = (LATE_ON_THE_EDGE_OF_THE_YEAR, A_SMALL_PLANE, NO_SMALL_PLANE, A_DAY_WITH_FEW_SEATS, NO_DAY_WITH_FEW_SEATS)
