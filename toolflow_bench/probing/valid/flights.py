"""Valid arguments of the flights service."""

from __future__ import annotations

from toolflow_bench.probing.valid.draw import Kept, Valid

_PLANE_FLIGHTS = "SELECT tail_number FROM flights WHERE tail_number IN (SELECT tail_number FROM planes)"
_BOOKED = "SELECT flight_id FROM bookings"
_BOOKING = "SELECT booking_id FROM bookings"
_MADE_BOOKING = Kept(collection="bookings", fields={"booking_id": "booking_id"})

VALID = Valid(
    anywhere={
        "airport": "SELECT code FROM airports",
        "airline": "SELECT code FROM airlines",
        "time_zone": "SELECT DISTINCT time_zone FROM airports WHERE time_zone IS NOT NULL",
        "flight_id": "SELECT flight_id FROM flights",
        "tail_number": "SELECT tail_number FROM planes",
        "manufacturer": "SELECT DISTINCT manufacturer FROM planes",
        "model": "SELECT DISTINCT model FROM planes",
        "destination": "SELECT DISTINCT destination FROM routes",
        "passenger": "SELECT DISTINCT passenger FROM bookings",
        "booking_id": _BOOKING,
        "note": ("tell the desk", "gate change", "call back", "vip"),
        "min_seats": (1, 50, 120, 180),
        "max_seats": (60, 150, 200, 400),
        "min_year": (1980, 1995, 2000),
        "max_year": (2000, 2005, 2013),
        "min_delay_minutes": (-10, 0, 15, 60),
    },
    of_tool={
        "search_airports": ("SELECT name AS query FROM airports", "SELECT substr(name, 1, 4) AS query FROM airports"),
        "search_airlines": ("SELECT name AS query FROM airlines", "SELECT substr(name, 1, 4) AS query FROM airlines"),
        "list_departures": ("SELECT origin, date FROM flights", "SELECT origin, date, destination FROM flights"),
        "list_arrivals": ("SELECT destination, date FROM flights", "SELECT destination, date, origin FROM flights"),
        "list_departure_delays": ("SELECT origin, date FROM flights", "SELECT origin, date, airline FROM flights"),
        "list_cancelled_flights": ("SELECT date FROM flights WHERE actual_departure IS NULL",),
        "find_flights": ("SELECT airline, flight_number, date FROM flights",),
        "list_flight_dates": ("SELECT airline, flight_number FROM flights",),
        "get_route": ("SELECT origin, destination FROM routes",),
        "list_route_airlines": ("SELECT origin, destination FROM routes",),
        "list_plane_flights": (_PLANE_FLIGHTS,),
        "list_plane_airlines": (_PLANE_FLIGHTS,),
        "get_weather": ("SELECT airport, date, hour FROM weather",),
        "list_hourly_weather": ("SELECT airport, date FROM weather",),
        "list_flight_bookings": (_BOOKED, _BOOKED, "SELECT flight_id FROM flights"),
        "get_booking": (_BOOKING, _MADE_BOOKING),
        "cancel_booking": (_BOOKING, _MADE_BOOKING),
        "request_assistance": (_BOOKING, _MADE_BOOKING),
        "delete_watch": (Kept(collection="watches", fields={"watch_id": "watch_id"}),),
    },
)
