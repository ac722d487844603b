"""Long recipes that write: bookings cancelled, help asked for and notices sent, for what a chain of reads found."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

CANCEL_LATE = Recipe(
    id="cancel-late",
    services=("flights",),
    split="long",
    type="state",
    program="""
for name in list_bookings(passenger=$passenger, page_size=200)["bookings"]:
    booking = get_booking(booking_id=name["booking_id"])
    delay = get_flight_status(flight_id=booking["flight_id"])["arrival_delay_minutes"]
    if delay is not None and delay > $minutes:
        cancel_booking(booking_id=booking["booking_id"], refund=$refund)
print("done")
""",
    query="""
SELECT json_object('flights', json_object('cancellations', json_group_array(json_object(
    'flight_id', b.flight_id, 'passenger', b.passenger, 'refund', $refund))))
FROM flights.bookings b JOIN flights.flights f USING (flight_id)
WHERE b.passenger = $passenger AND f.arrival_delay_minutes > $minutes
""",
    cases=(
        Case(
            "Hugo Castellan gets his money back for every booked flight that arrived more than 90 minutes late. "
            "Cancel those bookings of his, with the refund as a voucher.",
            passenger="Hugo Castellan",
            minutes=90,
            refund="voucher",
        ),
        Case(
            "Please cancel, refunding to the card, whatever Esther Fontaine has booked on flights which reached their "
            "destination over 100 minutes behind schedule; leave her other bookings alone.",
            passenger="Esther Fontaine",
            minutes=100,
            refund="card",
        ),
        Case(
            "Find the flights in Ada Eriksen's bookings whose arrival delay exceeded 45 minutes and call these "
            "bookings off. She takes a voucher.",
            passenger="Ada Eriksen",
            minutes=45,
            refund="voucher",
        ),
    ),
)

HELP_ON_LONG_FLIGHTS = Recipe(
    id="help-on-long-flights",
    services=("flights",),
    split="long",
    type="state",
    program="""
for name in list_bookings(passenger=$passenger, page_size=200)["bookings"]:
    booking = get_booking(booking_id=name["booking_id"])
    if get_flight(flight_id=booking["flight_id"])["distance_miles"] >= $miles:
        request_assistance(booking_id=booking["booking_id"], kind=$kind)
print("done")
""",
    query="""
SELECT json_object('flights', json_object('assistance_requests', json_group_array(json_object(
    'flight_id', b.flight_id, 'passenger', b.passenger, 'kind', $kind))))
FROM flights.bookings b JOIN flights.flights f USING (flight_id)
WHERE b.passenger = $passenger AND f.distance_miles >= $miles
""",
    cases=(
        Case(
            "Greta Eriksen needs oxygen on long flights. Ask for it on each of her bookings whose flight is 2000 "
            "miles or longer.",
            passenger="Greta Eriksen",
            miles=2000,
            kind="oxygen",
        ),
        Case(
            "For all trips of at least 1500 miles that Chiara Dubrow booked, request a wheelchair; the shorter ones "
            "need nothing.",
            passenger="Chiara Dubrow",
            miles=1500,
            kind="wheelchair",
        ),
        Case(
            "Dilan Dubrow travels with a guide dog. Order assistance for it wherever the distance of the booked "
            "flight is no less than 1600 miles.",
            passenger="Dilan Dubrow",
            miles=1600,
            kind="guide_dog",
        ),
    ),
)

NOTICES_TO_THE_FAR = Recipe(
    id="notices-to-the-far",
    services=("flights",),
    split="long",
    type="state",
    program="""
airline = search_airlines(query=$airline)[0]["code"]
page = list_departure_delays(
    origin=$origin, date=$date, airline=airline, min_delay_minutes=$minutes, page_size=200
)
for late in page["flights"]:
    if get_flight(flight_id=late["flight_id"])["distance_miles"] >= $miles:
        send_delay_notice(
            flight_id=late["flight_id"], delay_minutes=late["departure_delay_minutes"], channel=$channel
        )
print("done")
""",
    query="""
SELECT json_object('flights', json_object('delay_notices', json_group_array(json_object(
    'flight_id', f.flight_id, 'delay_minutes', f.departure_delay_minutes, 'channel', $channel))))
FROM flights.flights f JOIN flights.airlines a ON a.code = f.airline
WHERE a.name LIKE '%' || $airline || '%' AND f.origin = $origin AND f.date = $date
AND f.departure_delay_minutes >= $minutes AND f.distance_miles >= $miles
""",
    cases=(
        Case(
            "Send a delay notice by SMS for each Delta flight that left Kennedy (JFK) 60 minutes late or more on 1 "
            "July 2013 and goes 1000 miles or farther. The notice tells the departure delay.",
            airline="Delta",
            origin="JFK",
            date="2013-07-01",
            minutes=60,
            miles=1000,
            channel="sms",
        ),
        Case(
            "2 September 2013, LaGuardia (LGA), American: passengers of flights with a departure delay of at least 60 "
            "minutes and a route of at least 900 miles should get an email saying how many minutes late they left.",
            airline="American",
            origin="LGA",
            date="2013-09-02",
            minutes=60,
            miles=900,
            channel="email",
        ),
        Case(
            "Inform, via email, those who were on United's long flights (1200 miles upwards) out of Newark (EWR) on 1 "
            "August 2013 when the departure came 75 or more minutes after schedule; state the exact delay of "
            "departure.",
            airline="United",
            origin="EWR",
            date="2013-08-01",
            minutes=75,
            miles=1200,
            channel="email",
        ),
    ),
)
RECIPES = (CANCEL_LATE, HELP_ON_LONG_FLIGHTS, NOTICES_TO_THE_FAR)
