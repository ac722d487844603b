"""Long recipes that write: new bookings and watches on flights that a chain of reads found."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

BOOK_THE_NEWEST = Recipe(
    id="book-the-newest",
    services=("flights",),
    split="long",
    type="state",
    program="""
airline = search_airlines(query=$airline)[0]["code"]
city = search_airports(query=$city, limit=1)[0]["code"]
page = list_departures(origin=$origin, date=$date, airline=airline, destination=city, page_size=200)
newest, built = None, 0
for flight in page["flights"]:
    if flight["tail_number"] is None:
        continue
    year = get_plane(tail_number=flight["tail_number"])["year_built"]
    if year is not None and year > built:
        newest, built = flight["flight_id"], year
create_booking(flight_id=newest, passenger=$passenger, seats=$seats, cabin=$cabin)
print("done")
""",
    query="""
SELECT json_object('flights', json_object('bookings', json_array(json_object('flight_id', f.flight_id,
    'passenger', $passenger, 'cabin', $cabin, 'seats', $seats, 'status', 'confirmed'))))
FROM flights.flights f JOIN flights.planes p USING (tail_number) JOIN flights.airlines a ON a.code = f.airline
JOIN flights.airports d ON d.code = f.destination
WHERE a.name LIKE '%' || $airline || '%' AND f.origin = $origin AND d.name = $airport_name AND f.date = $date
ORDER BY p.year_built DESC NULLS LAST LIMIT 1
""",
    cases=(
        Case(
            "Book 2 economy seats for 'Mara Lindqvist' with United from Newark (EWR) to San Francisco International "
            "on 27 March 2013, on the flight whose plane was built most recently.",
            airline="United",
            origin="EWR",
            city="San Francisco International",
            airport_name="San Francisco Intl",
            date="2013-03-27",
            passenger="Mara Lindqvist",
            seats=2,
            cabin="economy",
        ),
        Case(
            "'Jonas Okafor' wants to fly Delta to Minneapolis from LaGuardia (LGA) on 5 November 2013 in the newest "
            "aircraft (by year of manufacture) they used that day. Reserve 1 business seat under exactly this name.",
            airline="Delta",
            origin="LGA",
            city="Minneapolis",
            airport_name="Minneapolis St Paul Intl",
            date="2013-11-05",
            passenger="Jonas Okafor",
            seats=1,
            cabin="business",
        ),
        Case(
            "Four of us go to Orlando with JetBlue, leaving Kennedy (JFK) on 20 August 2013. Choose the departure "
            "with the youngest plane and make an economy booking of 4 seats in the name 'Priya Sandoval'.",
            airline="JetBlue",
            origin="JFK",
            city="Orlando",
            airport_name="Orlando Intl",
            date="2013-08-20",
            passenger="Priya Sandoval",
            seats=4,
            cabin="economy",
        ),
    ),
)

WATCH_THE_LATE = Recipe(
    id="watch-the-late",
    services=("flights",),
    split="long",
    type="state",
    program="""
airline = search_airlines(query=$airline)[0]["code"]
city = search_airports(query=$city, limit=1)[0]["code"]
page = list_departures(origin=$origin, date=$date, airline=airline, destination=city, page_size=200)
for flight in page["flights"]:
    create_watch(flight_id=flight["flight_id"], note=$note)
for watch in list_watches():
    delay = get_flight_status(flight_id=watch["flight_id"])["departure_delay_minutes"]
    if delay is not None and delay <= $minutes:
        delete_watch(watch_id=watch["watch_id"])
print("done")
""",
    query="""
SELECT json_object('flights', json_object('watches', json_group_array(json_object(
    'flight_id', f.flight_id, 'note', $note))))
FROM flights.flights f JOIN flights.airlines a ON a.code = f.airline JOIN flights.airports d ON d.code = f.destination
WHERE a.name LIKE '%' || $airline || '%' AND f.origin = $origin AND d.name = $airport_name AND f.date = $date
AND (f.departure_delay_minutes IS NULL OR f.departure_delay_minutes > $minutes)
""",
    cases=(
        Case(
            "Watch all of American's flights of 13 June 2013 from Kennedy (JFK) to Los Angeles International with the "
            "note 'storm watch'. Then go over the watches and end those on flights that left at most 15 minutes late.",
            airline="American",
            origin="JFK",
            city="Los Angeles International",
            airport_name="Los Angeles Intl",
            date="2013-06-13",
            note="storm watch",
            minutes=15,
        ),
        Case(
            "Set a watch, noted as 'crew hours', for each United departure to Houston's Bush Intercontinental from "
            "LaGuardia (LGA) on 13 June 2013; afterwards remove the watch again wherever the departure delay was 10 "
            "minutes or less.",
            airline="United",
            origin="LGA",
            city="Houston George Bush Intercontinental",
            airport_name="George Bush Intercontinental",
            date="2013-06-13",
            note="crew hours",
            minutes=10,
        ),
        Case(
            "My list of watches should hold the JetBlue flights from Newark (EWR) to Boston of 13 June 2013 that left "
            "more than 20 minutes late or never left, all with the note 'refund check'. Watch the whole day's flights "
            "first, then drop the rest from the list.",
            airline="JetBlue",
            origin="EWR",
            city="Boston",
            airport_name="General Edward Lawrence Logan Intl",
            date="2013-06-13",
            note="refund check",
            minutes=20,
        ),
    ),
)

REBOOK = Recipe(
    id="rebook",
    services=("flights",),
    split="long",
    type="state",
    program="""
airline = search_airlines(query=$airline)[0]["code"]
lost = find_flights(airline=airline, flight_number=$number, date=$date)[0]
page = list_departures(
    origin=lost["origin"], date=$date, airline=airline, destination=lost["destination"], page_size=200
)
for flight in page["flights"]:
    if flight["scheduled_departure"] > lost["scheduled_departure"]:
        delay = get_flight_status(flight_id=flight["flight_id"])["departure_delay_minutes"]
        if delay is not None and delay <= $minutes:
            break
else:
    raise LookupError("no later flight left in time")
for name in list_flight_bookings(flight_id=lost["flight_id"]):
    booking = get_booking(booking_id=name["booking_id"])
    cancel_booking(booking_id=booking["booking_id"], refund=$refund)
    create_booking(
        flight_id=flight["flight_id"],
        passenger=booking["passenger"],
        seats=booking["seats"],
        cabin=booking["cabin"],
    )
print("done")
""",
    query="""
WITH lost AS (
    SELECT f.* FROM flights.flights f JOIN flights.airlines a ON a.code = f.airline
    WHERE a.name LIKE '%' || $airline || '%' AND f.flight_number = $number AND f.date = $date),
later AS (
    SELECT f.flight_id FROM flights.flights f JOIN lost USING (date, airline, origin, destination)
    WHERE f.scheduled_departure > lost.scheduled_departure AND f.departure_delay_minutes <= $minutes
    ORDER BY f.scheduled_departure LIMIT 1)
SELECT json_object('flights', json_object(
    'cancellations', json_group_array(json_object(
        'flight_id', b.flight_id, 'passenger', b.passenger, 'refund', $refund)),
    'bookings', json_group_array(json_object(
        'flight_id', later.flight_id, 'passenger', b.passenger, 'cabin', b.cabin, 'seats', b.seats,
        'status', 'confirmed'))))
FROM flights.bookings b JOIN lost USING (flight_id) CROSS JOIN later
""",
    cases=(
        Case(
            "AirTran 63 of 5 December 2013 was cancelled. Move everybody who booked it at our desk to AirTran's next "
            "flight on the same route that day which left no more than 30 minutes late: cancel the old bookings with "
            "refund to the card and book anew, same name, seats and cabin.",
            airline="AirTran",
            number=63,
            date="2013-12-05",
            minutes=30,
            refund="card",
        ),
        Case(
            "Our customers on American flight 305, 30 January 2013, which never left, are to be rebooked onto the "
            "first later American flight of that day between the same airports that departed with 0 minutes of delay "
            "or early. New booking with unchanged passenger, cabin and number of seats; the old one is cancelled "
            "against a voucher.",
            airline="American",
            number=305,
            date="2013-01-30",
            minutes=0,
            refund="voucher",
        ),
        Case(
            "Since JetBlue 918 did not go on 12 September 2013, please replace each booking on it: take the earliest "
            "following JetBlue departure of the date, same origin and destination, with a departure delay of 120 "
            "minutes at most, keep seats, cabin and name, and refund the original to the customer's card.",
            airline="JetBlue",
            number=918,
            date="2013-09-12",
            minutes=120,
            refund="card",
        ),
    ),
)
RECIPES = (BOOK_THE_NEWEST, WATCH_THE_LATE, REBOOK)
