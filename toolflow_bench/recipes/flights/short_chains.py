"""Short recipes that read: three to six calls."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

WHO_BOOKED = Recipe(
    id="who-booked",
    services=("flights",),
    split="short",
    type="set",
    program="""
import json

airline = search_airlines(query=$airline)[0]["code"]
flight = find_flights(airline=airline, flight_number=$number, date=$date)[0]
print(json.dumps([booking["passenger"] for booking in list_flight_bookings(flight_id=flight["flight_id"])]))
""",
    query="""
SELECT b.passenger FROM flights.bookings b JOIN flights.flights f USING (flight_id)
JOIN flights.airlines a ON a.code = f.airline
WHERE a.name LIKE '%' || $airline || '%' AND f.flight_number = $number AND f.date = $date
""",
    cases=(
        Case(
            "Which passengers have a booking at the desk for United 1480 on 8 February 2013? Full names.",
            airline="United",
            number=1480,
            date="2013-02-08",
        ),
        Case(
            "Please list by name everyone who booked Delta flight 1847 of 22 July 2013 with us.",
            airline="Delta",
            number=1847,
            date="2013-07-22",
        ),
        Case(
            "Somebody left a bag on Virgin America 411, 8 February 2013. Who had bookings on that flight?",
            airline="Virgin America",
            number=411,
            date="2013-02-08",
        ),
        Case(
            "American 329 went to Chicago on 23 May 2013 with customers of ours on board: what are their names?",
            airline="American",
            number=329,
            date="2013-05-23",
        ),
    ),
)

LAST_ARRIVAL = Recipe(
    id="last-arrival",
    services=("flights",),
    split="short",
    type="text",
    program="""
airline = search_airlines(query=$airline)[0]["code"]
city = search_airports(query=$city, limit=1)[0]["code"]
page = list_departures(origin=$origin, date=$date, airline=airline, destination=city, page_size=200)
print(get_flight_status(flight_id=page["flights"][-1]["flight_id"])["actual_arrival"])
""",
    query="""
SELECT f.actual_arrival FROM flights.flights f JOIN flights.airlines a ON a.code = f.airline
JOIN flights.airports d ON d.code = f.destination
WHERE a.name LIKE '%' || $airline || '%' AND d.name = $airport_name AND f.origin = $origin AND f.date = $date
ORDER BY f.scheduled_departure DESC LIMIT 1
""",
    cases=(
        Case(
            "When did the last United flight of 2 April 2013 from Newark (EWR) to Seattle, last by scheduled "
            "departure, really arrive? Local time as HH:MM.",
            airline="United",
            origin="EWR",
            city="Seattle",
            airport_name="Seattle Tacoma Intl",
            date="2013-04-02",
        ),
        Case(
            "Delta's final departure for Miami on 28 May 2013, out of LaGuardia (LGA): at which actual time (HH:MM) "
            "was it there?",
            airline="Delta",
            origin="LGA",
            city="Miami",
            airport_name="Miami Intl",
            date="2013-05-28",
        ),
        Case(
            "Take the American service from LaGuardia (LGA) to Chicago O'Hare on 25 September 2013 and tell me the "
            "true arrival time, in the form HH:MM, of the flight scheduled latest in the day.",
            airline="American",
            origin="LGA",
            city="Chicago O'Hare",
            airport_name="Chicago Ohare Intl",
            date="2013-09-25",
        ),
    ),
)

WHERE_THE_PLANE_WENT = Recipe(
    id="where-the-plane-went",
    services=("flights",),
    split="short",
    type="text",
    program="""
airline = search_airlines(query=$airline)[0]["code"]
flight = find_flights(airline=airline, flight_number=$number, date=$date)[0]
tail = get_flight(flight_id=flight["flight_id"])["tail_number"]
page = list_plane_flights(tail_number=tail, start_date=$date, end_date=$date, page_size=200)
print(get_airport(airport=page["flights"][-1]["destination"])["name"])
""",
    query="""
SELECT d.name FROM flights.flights g JOIN flights.airports d ON d.code = g.destination
WHERE g.date = $date AND g.tail_number = (
    SELECT f.tail_number FROM flights.flights f JOIN flights.airlines a ON a.code = f.airline
    WHERE a.name LIKE '%' || $airline || '%' AND f.flight_number = $number AND f.date = $date)
ORDER BY g.scheduled_departure DESC LIMIT 1
""",
    cases=(
        Case(
            "The plane of JetBlue 601 on 28 August 2013 left New York several times that day. To which airport did it "
            "go last? Its name.",
            airline="JetBlue",
            number=601,
            date="2013-08-28",
        ),
        Case(
            "Name the airport that was the target of the day's final New York departure of the aircraft behind "
            "JetBlue flight 725, 21 March 2013.",
            airline="JetBlue",
            number=725,
            date="2013-03-21",
        ),
        Case(
            "After Envoy Air 3272 on 30 October 2013, the same plane flew on. What's the name of the airport it was "
            "sent to at the end of the day?",
            airline="Envoy",
            number=3272,
            date="2013-10-30",
        ),
        Case(
            "Follow the machine that did Envoy Air's 3351 in the morning of 28 August 2013: which airport is on the "
            "schedule of its latest flight from New York on that date?",
            airline="Envoy",
            number=3351,
            date="2013-08-28",
        ),
    ),
)

THREE_ROUTES = Recipe(
    id="three-routes",
    services=("flights",),
    split="short",
    type="number",
    program="""
miles = 0
for city in ($one, $two, $three):
    code = search_airports(query=city, limit=1)[0]["code"]
    miles += get_route(origin=$origin, destination=code)["distance_miles"]
print(miles)
""",
    query="""
SELECT sum(miles) FROM (
    SELECT max(f.distance_miles) AS miles FROM flights.flights f JOIN flights.airports d ON d.code = f.destination
    WHERE f.origin = $origin AND d.name IN ($name_one, $name_two, $name_three) GROUP BY d.name)
""",
    cases=(
        Case(
            "I collect miles: one nonstop flight each from Kennedy (JFK) to Seattle, San Diego and Salt Lake City. "
            "How many flight miles is that in sum?",
            origin="JFK",
            one="Seattle",
            two="San Diego",
            three="Salt Lake City",
            name_one="Seattle Tacoma Intl",
            name_two="San Diego Intl",
            name_three="Salt Lake City Intl",
        ),
        Case(
            "Add the route lengths in miles from Newark (EWR) to Minneapolis, Dallas Fort Worth and New Orleans.",
            origin="EWR",
            one="Minneapolis",
            two="Dallas Fort Worth",
            three="New Orleans",
            name_one="Minneapolis St Paul Intl",
            name_two="Dallas Fort Worth Intl",
            name_three="Louis Armstrong New Orleans Intl",
        ),
        Case(
            "What do the direct routes LaGuardia (LGA) - Nashville, LaGuardia - Denver International and LaGuardia - "
            "Tampa measure together, in miles?",
            origin="LGA",
            one="Nashville",
            two="Denver International",
            three="Tampa",
            name_one="Nashville Intl",
            name_two="Denver Intl",
            name_three="Tampa Intl",
        ),
    ),
)

SEATS_BOOKED = Recipe(
    id="seats-booked",
    services=("flights",),
    split="short",
    type="number",
    program="""
airline = search_airlines(query=$airline)[0]["code"]
flight = find_flights(airline=airline, flight_number=$number, date=$date)[0]
bookings = list_flight_bookings(flight_id=flight["flight_id"])
print(sum(get_booking(booking_id=booking["booking_id"])["seats"] for booking in bookings))
""",
    query="""
SELECT sum(b.seats) FROM flights.bookings b JOIN flights.flights f USING (flight_id)
JOIN flights.airlines a ON a.code = f.airline
WHERE a.name LIKE '%' || $airline || '%' AND f.flight_number = $number AND f.date = $date
""",
    cases=(
        Case(
            "How many seats have our customers booked in all on United flight 1668 of 27 November 2013?",
            airline="United",
            number=1668,
            date="2013-11-27",
        ),
        Case(
            "JetBlue 718, 5 December 2013: the sum of seats in the desk's bookings, please.",
            airline="JetBlue",
            number=718,
            date="2013-12-05",
        ),
        Case(
            "For the catering on AirTran 620 (30 January 2013), tell me the seats that were reserved through us.",
            airline="AirTran",
            number=620,
            date="2013-01-30",
        ),
        Case(
            "What number of seats did passengers reserve, taking all bookings together, for Delta's 1164 on 10 July "
            "2013?",
            airline="Delta",
            number=1164,
            date="2013-07-10",
        ),
    ),
)
RECIPES = (WHO_BOOKED, LAST_ARRIVAL, WHERE_THE_PLANE_WENT, THREE_ROUTES, SEATS_BOOKED)
