"""Long recipes on passengers and their bookings, which are only read."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

SEATS_ON_CANCELLED = Recipe(
    id="seats-on-cancelled",
    services=("flights",),
    split="long",
    type="number",
    program="""
airline = search_airlines(query=$airline)[0]["code"]
page = list_cancelled_flights(date=$date, origin=$origin, airline=airline, page_size=200)
seats = 0
for flight in page["flights"]:
    for booking in list_flight_bookings(flight_id=flight["flight_id"]):
        seats += get_booking(booking_id=booking["booking_id"])["seats"]
print(seats)
""",
    query="""
SELECT sum(b.seats) FROM flights.bookings b JOIN flights.flights f USING (flight_id)
JOIN flights.airlines a ON a.code = f.airline
WHERE f.actual_departure IS NULL AND f.date = $date AND f.origin = $origin AND a.name LIKE '%' || $airline || '%'
""",
    cases=(
        Case(
            "On 8 February 2013 United cancelled flights out of LaGuardia (LGA). How many seats had our desk's "
            "customers booked on all of these together?",
            airline="United",
            origin="LGA",
            date="2013-02-08",
        ),
        Case(
            "We must find new seats for everybody with a booking at the desk on an American flight from Kennedy (JFK) "
            "that was called off on 8 February 2013. What is the total number of seats in those bookings?",
            airline="American",
            origin="JFK",
            date="2013-02-08",
        ),
        Case(
            "Add up the seats that were booked through us on those Delta departures from LaGuardia (LGA) which never "
            "left on 30 January 2013.",
            airline="Delta",
            origin="LGA",
            date="2013-01-30",
        ),
        Case(
            "JetBlue struck several departures at Kennedy (JFK) off the board on 12 September 2013; our customers had "
            "bookings on some. I need the sum of seats affected.",
            airline="JetBlue",
            origin="JFK",
            date="2013-09-12",
        ),
    ),
)

LATEST_ARRIVAL = Recipe(
    id="latest-arrival",
    services=("flights",),
    split="long",
    type="text",
    program="""
worst, latest = None, None
for name in list_bookings(passenger=$passenger, page_size=200)["bookings"]:
    flight_id = get_booking(booking_id=name["booking_id"])["flight_id"]
    delay = get_flight_status(flight_id=flight_id)["arrival_delay_minutes"]
    if delay is not None and (latest is None or delay > latest):
        worst, latest = flight_id, delay
airline = get_flight(flight_id=worst)["airline"]
print(get_airline(airline=airline)["name"])
""",
    query="""
SELECT a.name FROM flights.bookings b JOIN flights.flights f USING (flight_id)
JOIN flights.airlines a ON a.code = f.airline
WHERE b.passenger = $passenger ORDER BY f.arrival_delay_minutes DESC NULLS LAST LIMIT 1
""",
    cases=(
        Case(
            "Which airline ran the flight that arrived latest behind its schedule of all those that Chiara Dubrow has "
            "booked? Its name, please.",
            passenger="Chiara Dubrow",
        ),
        Case(
            "Dilan Barros wants to complain about the longest arrival delay among the flights booked in his name. To "
            "whom should he write: what is the carrier called?",
            passenger="Dilan Barros",
        ),
        Case(
            "Go through Ada Barros's bookings and tell me the name of the airline whose flight reached its "
            "destination with more minutes of delay than any other she booked.",
            passenger="Ada Barros",
        ),
    ),
)

SHORT_HOP = """
hops = {}
for name in list_bookings(passenger=$passenger, page_size=200)["bookings"]:
    flight_id = get_booking(booking_id=name["booking_id"])["flight_id"]
    minutes = get_flight_status(flight_id=flight_id)["air_time_minutes"]
    if minutes is not None:
        hops[flight_id] = minutes
shortest = min(hops, key=hops.get)
print(get_flight(flight_id=shortest)["date"] if hops[shortest] <= $minutes else "none")
"""
SHORT_HOP_QUERY = """
SELECT f.date FROM flights.bookings b JOIN flights.flights f USING (flight_id)
WHERE b.passenger = $passenger AND f.air_time_minutes <= $minutes
"""
A_SHORT_HOP = Recipe(
    id="a-short-hop",
    services=("flights",),
    split="long",
    type="text",
    program=SHORT_HOP,
    query=SHORT_HOP_QUERY,
    cases=(
        Case(
            "On what date did a flight booked by Farid Dubrow stay in the air for 34 minutes or less? Write it "
            "YYYY-MM-DD, or none if no such flight is there.",
            passenger="Farid Dubrow",
            minutes=34,
        ),
        Case(
            "One of Ada Castellan's booked flights may have taken 60 minutes of air time at the most. If so, when did "
            "she fly (YYYY-MM-DD)? If not, answer none.",
            passenger="Ada Castellan",
            minutes=60,
        ),
    ),
)
NO_SHORT_HOP = Recipe(
    id="no-short-hop",
    services=("flights",),
    split="long",
    type="none",
    program=SHORT_HOP,
    query=SHORT_HOP_QUERY,
    cases=(
        Case(
            "Was any flight that Greta Fontaine booked airborne for no longer than 90 minutes? I would like its date "
            "as YYYY-MM-DD, and none in case there is nothing like that.",
            passenger="Greta Fontaine",
            minutes=90,
        ),
        Case(
            "Tell me the day (YYYY-MM-DD) of the trip by Boris Fontaine which lasted, from wheels up to wheels down, "
            "75 minutes or fewer. Say none where the bookings show no trip so short.",
            passenger="Boris Fontaine",
            minutes=75,
        ),
    ),
)

TWO_TRAVELLERS = Recipe(
    id="two-travellers",
    services=("flights",),
    split="long",
    type="number",
    program="""
def seat_miles(passenger):
    total = 0
    for name in list_bookings(passenger=passenger, page_size=200)["bookings"]:
        booking = get_booking(booking_id=name["booking_id"])
        total += booking["seats"] * get_flight(flight_id=booking["flight_id"])["distance_miles"]
    return total


print(abs(seat_miles($one) - seat_miles($other)))
""",
    query="""
SELECT abs(sum(CASE b.passenger WHEN $one THEN 1 ELSE -1 END * b.seats * f.distance_miles))
FROM flights.bookings b JOIN flights.flights f USING (flight_id) WHERE b.passenger IN ($one, $other)
""",
    cases=(
        Case(
            "Seat miles are the seats of a booking times the miles of its flight. By how many seat miles do the "
            "totals of Boris Barros and Esther Castellan differ, all of their bookings counted?",
            one="Boris Barros",
            other="Esther Castellan",
        ),
        Case(
            "For our bonus scheme, multiply seats by distance in miles for each booking and sum per customer. What is "
            "the gap between Hugo Barros and Ada Fontaine?",
            one="Hugo Barros",
            other="Ada Fontaine",
        ),
    ),
)
RECIPES = (SEATS_ON_CANCELLED, LATEST_ARRIVAL, A_SHORT_HOP, NO_SHORT_HOP, TWO_TRAVELLERS)
