"""Response schemas of the booking desk: closed, every field described with its unit."""

from __future__ import annotations

from protocols.jsontypes import JsonObject
from toolflow_bench.services.flights.schemas import DATE, FLIGHT_ID, STRING
from toolflow_bench.services.shapes import INTEGER, closed, field, list_of, page_of, ref

BOOKING_ID: JsonObject = {"type": "string", "title": "a booking id", "pattern": "^bk_[a-z2-7]{5,6}$"}
CABIN: JsonObject = {"type": "string", "enum": ["economy", "business"]}
ASSISTANCE: JsonObject = {"type": "string", "enum": ["wheelchair", "escort", "oxygen", "guide_dog"]}
CHANNEL: JsonObject = {"type": "string", "enum": ["email", "sms"]}
REFUND: JsonObject = {"type": "string", "enum": ["card", "voucher"]}
_REQUEST_ID: JsonObject = {"type": "string", "pattern": "^as_[a-z2-7]{5}$"}
_NOTICE_ID: JsonObject = {"type": "string", "pattern": "^dn_[a-z2-7]{5}$"}

_booking_id = field(BOOKING_ID, "Id of the booking.")
_flight_id = field(FLIGHT_ID, "Id of the flight, as get_flight and get_flight_status take it.")
_passenger = field(STRING, "Full name of the passenger who booked.")

_UNTITLED: dict[str, JsonObject] = {
    "BookingName": closed("A booking and who made it.", booking_id=_booking_id, passenger=_passenger),
    "Booking": closed(
        "One booking.",
        booking_id=_booking_id,
        flight_id=_flight_id,
        passenger=_passenger,
        cabin=field(CABIN, "Cabin of all of its seats: economy or business."),
        seats=field(INTEGER, "Number of seats, 1 to 9."),
        status={
            "type": "string",
            "enum": ["confirmed", "cancelled"],
            "description": "confirmed, or cancelled by cancel_booking. It does not tell what became of the flight.",
        },
    ),
    "FlightDate": closed(
        "One date of a flight number.",
        flight_id=_flight_id,
        date=field(DATE, "Local date of scheduled departure, YYYY-MM-DD."),
    ),
    "AssistanceRequest": closed(
        "Help that was asked for.",
        request_id=field(_REQUEST_ID, "Id of the request."),
        flight_id=_flight_id,
        passenger=_passenger,
        kind=field(ASSISTANCE, "The help: wheelchair, escort, oxygen or guide_dog."),
    ),
    "DelayNotice": closed(
        "A notice that was sent.",
        notice_id=field(_NOTICE_ID, "Id of the notice."),
        flight_id=_flight_id,
        delay_minutes=field(INTEGER, "The delay that it tells, in minutes."),
        channel=field(CHANNEL, "How it was sent: email or sms."),
    ),
    "BookingPage": page_of("bookings", "BookingName", "Bookings, oldest first."),
    "FlightBookings": list_of("bookings", ref("BookingName"), "Bookings, oldest first."),
    "FlightDatePage": page_of("flights", "FlightDate", "Flights by date and scheduled departure."),
}
BOOKING_SCHEMAS: dict[str, JsonObject] = {name: {"title": name, **schema} for name, schema in _UNTITLED.items()}
"""By component name, which is their title too."""
