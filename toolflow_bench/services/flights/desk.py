"""Operations of the booking desk: bookings, help for passengers, notices, and the dates of a flight number."""

from __future__ import annotations

from toolflow_bench.services.flights import booking_schemas as schemas
from toolflow_bench.services.flights import bookings as bookings
from toolflow_bench.services.flights.links import FLIGHT_USES
from toolflow_bench.services.flights.parameters import (
    AIRLINE,
    END_DATE,
    FLIGHT,
    FLIGHT_NUMBER,
    PAGING,
    START_DATE,
    optional,
    text,
    whole,
)
from toolflow_bench.services.operation import Operation, Parameter, Uses

BOOKING = Parameter(
    name="booking_id",
    schema=schemas.BOOKING_ID,
    description="Id of the booking, as list_bookings, list_flight_bookings or create_booking gives it.",
)
PASSENGER = Parameter(
    name="passenger", schema=text(80), description="Full name of the passenger who books, first name first."
)
PASSENGER_FILTER = optional(
    "passenger", text(80), "Only bookings of this passenger: the full name, first name first; any case."
)
SEATS = Parameter(name="seats", schema=whole(1, 9), description="Number of seats, 1 to 9.")
CABIN = optional("cabin", {**schemas.CABIN, "default": "economy"}, "Cabin of all seats: economy or business.")
REFUND = optional(
    "refund", {**schemas.REFUND, "default": "card"}, "How the fare is given back: to the card, or as a voucher."
)
KIND = Parameter(
    name="kind",
    schema=schemas.ASSISTANCE,
    description="The help: wheelchair, escort (somebody walks along), oxygen, or guide_dog (a seat with room for it).",
)
DELAY = Parameter(
    name="delay_minutes", schema=whole(1, 2000), description="The delay that the notice tells, in whole minutes."
)
CHANNEL = optional("channel", {**schemas.CHANNEL, "default": "email"}, "How it is sent: email or sms.")

_BOOKING_USES: Uses = (
    ("get_booking", "booking_id"),
    ("cancel_booking", "booking_id"),
    ("request_assistance", "booking_id"),
)
_BOOKED_FLIGHT_USES: Uses = (("get_flight", "flight_id"), ("get_flight_status", "flight_id"))
_DATED_FLIGHT_USES: Uses = (
    *FLIGHT_USES,
    ("list_flight_bookings", "flight_id"),
    ("create_booking", "flight_id"),
    ("send_delay_notice", "flight_id"),
)
_NO_BOOKING, _NO_FLIGHT = "There is no booking of this id.", "There is no flight of this id."

BOOKING_OPERATIONS = (
    Operation(
        id="list_bookings",
        tag="bookings",
        path="/bookings",
        description=(
            "Bookings at the desk by id and passenger, oldest first, in pages. Cancelled ones are among them; "
            "get_booking tells the flight, the seats and whether a booking stands."
        ),
        parameters=(PASSENGER_FILTER, *PAGING),
        returns="BookingPage",
        handler=bookings.list_bookings,
        links=(("/bookings/0/booking_id", _BOOKING_USES),),
    ),
    Operation(
        id="list_flight_bookings",
        tag="bookings",
        path="/flights/{flight_id}/bookings",
        description=(
            "Bookings on one flight by id and passenger, oldest first; empty where the desk has none. "
            "Cancelled ones are among them."
        ),
        parameters=(FLIGHT,),
        returns="FlightBookings",
        handler=bookings.list_flight_bookings,
        missing=_NO_FLIGHT,
        links=(("/bookings/0/booking_id", _BOOKING_USES),),
    ),
    Operation(
        id="get_booking",
        tag="bookings",
        path="/bookings/{booking_id}",
        description=(
            "One booking: its flight by id, passenger, cabin, number of seats and whether it is confirmed or cancelled."
        ),
        parameters=(BOOKING,),
        returns="Booking",
        handler=bookings.get_booking,
        missing=_NO_BOOKING,
        links=(("/flight_id", _BOOKED_FLIGHT_USES),),
    ),
    Operation(
        id="create_booking",
        tag="bookings",
        path="/bookings",
        method="POST",
        description=(
            "Book seats on a flight for a passenger. A flight that was cancelled takes no bookings, and a passenger "
            "has one confirmed booking on a flight at most."
        ),
        parameters=(FLIGHT, PASSENGER, SEATS, CABIN),
        returns="Booking",
        takes_key=True,
        handler=bookings.create_booking,
        missing=_NO_FLIGHT,
        conflict="The flight was cancelled, or the passenger has a confirmed booking on it.",
        links=(("/booking_id", _BOOKING_USES),),
    ),
    Operation(
        id="cancel_booking",
        tag="bookings",
        path="/bookings/{booking_id}/cancellation",
        method="POST",
        description="Cancel a booking and give its fare back. It stays in the lists, as cancelled.",
        parameters=(BOOKING, REFUND),
        returns="Booking",
        takes_key=True,
        handler=bookings.cancel_booking,
        missing=_NO_BOOKING,
        conflict="The booking is cancelled already.",
        links=(("/flight_id", _BOOKED_FLIGHT_USES),),
    ),
    Operation(
        id="request_assistance",
        tag="bookings",
        path="/bookings/{booking_id}/assistance",
        method="POST",
        description=(
            "Ask the airport's staff to help the passenger of a booking. The request goes out at once; "
            "nothing lists it afterwards."
        ),
        parameters=(BOOKING, KIND),
        returns="AssistanceRequest",
        handler=bookings.request_assistance,
        missing=_NO_BOOKING,
        conflict="The booking is cancelled.",
    ),
    Operation(
        id="send_delay_notice",
        tag="bookings",
        path="/flights/{flight_id}/delay_notices",
        method="POST",
        description=(
            "Tell everybody who booked a flight how many minutes late it is. The notice goes out at once; "
            "nothing lists it afterwards."
        ),
        parameters=(FLIGHT, DELAY, CHANNEL),
        returns="DelayNotice",
        handler=bookings.send_delay_notice,
        missing=_NO_FLIGHT,
    ),
    Operation(
        id="list_flight_dates",
        tag="flights",
        path="/flight_dates",
        description=(
            "The dates of one flight number of an airline, with the id of each flight, in pages by date. Without dates "
            "it is the whole year. Cancelled flights are among them, and the route may change from date to date."
        ),
        parameters=(AIRLINE, FLIGHT_NUMBER, START_DATE, END_DATE, *PAGING),
        returns="FlightDatePage",
        handler=bookings.list_flight_dates,
        missing="There is no airline of this code.",
        links=(("/flights/0/flight_id", _DATED_FLIGHT_USES),),
    ),
)
