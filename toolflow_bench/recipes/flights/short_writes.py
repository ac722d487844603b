"""Short recipes that write."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

BOOK_A_FLIGHT = Recipe(
    id="book-a-flight",
    services=("flights",),
    split="short",
    type="state",
    program="""
airline = search_airlines(query=$airline)[0]["code"]
flight = find_flights(airline=airline, flight_number=$number, date=$date)[0]
create_booking(flight_id=flight["flight_id"], passenger=$passenger, seats=$seats, cabin=$cabin)
print("done")
""",
    query="""
SELECT json_object('flights', json_object('bookings', json_array(json_object('flight_id', f.flight_id,
    'passenger', $passenger, 'cabin', $cabin, 'seats', $seats, 'status', 'confirmed'))))
FROM flights.flights f JOIN flights.airlines a ON a.code = f.airline
WHERE a.name LIKE '%' || $airline || '%' AND f.flight_number = $number AND f.date = $date
""",
    cases=(
        Case(
            "Book 3 economy seats on Delta 1847 of 22 July 2013 for 'Noor Haddad'.",
            airline="Delta",
            number=1847,
            date="2013-07-22",
            passenger="Noor Haddad",
            seats=3,
            cabin="economy",
        ),
        Case(
            "'Tomas Reinholt' needs a single business seat aboard JetBlue's flight 601 on 28 August 2013; please "
            "reserve it.",
            airline="JetBlue",
            number=601,
            date="2013-08-28",
            passenger="Tomas Reinholt",
            seats=1,
            cabin="business",
        ),
    ),
)

HELP_FOR_A_PASSENGER = Recipe(
    id="help-for-a-passenger",
    services=("flights",),
    split="short",
    type="state",
    program="""
airline = search_airlines(query=$airline)[0]["code"]
flight = find_flights(airline=airline, flight_number=$number, date=$date)[0]
for booking in list_flight_bookings(flight_id=flight["flight_id"]):
    if booking["passenger"] == $passenger:
        request_assistance(booking_id=booking["booking_id"], kind=$kind)
print("done")
""",
    query="""
SELECT json_object('flights', json_object('assistance_requests', json_array(json_object(
    'flight_id', f.flight_id, 'passenger', b.passenger, 'kind', $kind))))
FROM flights.bookings b JOIN flights.flights f USING (flight_id) JOIN flights.airlines a ON a.code = f.airline
WHERE a.name LIKE '%' || $airline || '%' AND f.flight_number = $number AND f.date = $date AND b.passenger = $passenger
""",
    cases=(
        Case(
            "Greta Dubrow broke her leg. Ask for a wheelchair for her booking on United 1480, 8 February 2013.",
            airline="United",
            number=1480,
            date="2013-02-08",
            passenger="Greta Dubrow",
            kind="wheelchair",
        ),
        Case(
            "Farid Eriksen is booked on American's flight 33 on 10 July 2013 and wants somebody to walk with him: "
            "request an escort.",
            airline="American",
            number=33,
            date="2013-07-10",
            passenger="Farid Eriksen",
            kind="escort",
        ),
    ),
)
RECIPES = (BOOK_A_FLIGHT, HELP_FOR_A_PASSENGER)
