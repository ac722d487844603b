"""Parameters of the flights service. One thing has one name in every operation, so that values and links line up."""

from __future__ import annotations

from typing import Any

from protocols.jsontypes import Json
from toolflow_bench.services.flights import schemas as schemas
from toolflow_bench.services.operation import Parameter


def text(longest: int, *, shortest: int = 1) -> dict[str, Any]:
    """A string of so many characters."""
    return {"type": "string", "minLength": shortest, "maxLength": longest}


def whole(minimum: int, maximum: int, *, default: Json = None) -> dict[str, Any]:
    """An integer between bounds, both included."""
    schema: dict[str, Any] = {"type": "integer", "minimum": minimum, "maximum": maximum}
    return schema if default is None else {**schema, "default": default}


def optional(name: str, schema: Any, description: str) -> Parameter:
    """A parameter that may be left out."""
    return Parameter(name=name, schema=schema, description=description, required=False)


_FROM_NEW_YORK = "New York airport that the flight leaves from: EWR is Newark, JFK Kennedy, LGA LaGuardia."
_AIRLINE = "Code of the airline, two characters; search_airlines finds it by name."
_DESTINATION = "Code of the airport that the flight goes to, three characters; search_airports finds it by name."

QUERY = Parameter(name="query", schema=text(80), description="Words of the name, a city, or a code; any case.")
LIMIT = optional("limit", whole(1, 100, default=10), "The most results to give.")
AIRPORT = Parameter(
    name="airport",
    schema=schemas.AIRPORT_CODE,
    description="Code of the airport, three characters; search_airports finds it by name.",
)
RADIUS = Parameter(
    name="radius_km",
    schema={"type": "number", "minimum": 1, "maximum": 1000},
    description="How far away an airport may be, in kilometres.",
)
TIME_ZONE = Parameter(
    name="time_zone",
    schema={**text(40), "examples": ["America/Denver"]},
    description="IANA name of the time zone, as list_time_zones gives it.",
)
AIRLINE = Parameter(name="airline", schema=schemas.AIRLINE_CODE, description=_AIRLINE)
AIRLINE_FILTER = optional("airline", schemas.AIRLINE_CODE, f"Only flights of this airline. {_AIRLINE}")
ORIGIN = Parameter(name="origin", schema=schemas.NEW_YORK, description=_FROM_NEW_YORK)
ORIGIN_FILTER = optional("origin", schemas.NEW_YORK, f"Only flights from this airport. {_FROM_NEW_YORK}")
DESTINATION = Parameter(name="destination", schema=schemas.AIRPORT_CODE, description=_DESTINATION)
DESTINATION_FILTER = optional("destination", schemas.AIRPORT_CODE, f"Only flights to this airport. {_DESTINATION}")
DATE = Parameter(name="date", schema=schemas.DATE, description="Local date, YYYY-MM-DD, from 2013-01-01 to 2013-12-31.")
START_DATE = optional("start_date", {**schemas.DATE, "default": "2013-01-01"}, "First date, YYYY-MM-DD.")
END_DATE = optional("end_date", {**schemas.DATE, "default": "2013-12-31"}, "Last date, YYYY-MM-DD, included.")
HOUR = Parameter(name="hour", schema=whole(0, 23), description="Hour of the day, local time, 0 to 23.")
FROM_HOUR = optional(
    "from_hour", whole(0, 23, default=0), "Only flights scheduled to leave in this hour of the day or later."
)
TO_HOUR = optional(
    "to_hour",
    whole(0, 23, default=23),
    "Only flights scheduled to leave in this hour of the day or earlier; the whole hour counts.",
)
MIN_DELAY = optional(
    "min_delay_minutes",
    whole(-60, 2000),
    "Only flights that left at least this many minutes late; leaves out cancelled flights.",
)
FLIGHT = Parameter(
    name="flight_id",
    schema=schemas.FLIGHT_ID,
    description="Id of the flight, as list_departures, list_arrivals or find_flights gives it.",
)
FLIGHT_NUMBER = Parameter(
    name="flight_number", schema=whole(1, 9999), description="Flight number, without the airline's code."
)
TAIL_NUMBER = Parameter(
    name="tail_number",
    schema=schemas.TAIL_NUMBER,
    description="Tail number of the plane, as list_departures or get_flight gives it.",
)
MANUFACTURER = Parameter(
    name="manufacturer",
    schema={**text(40), "examples": ["BOEING"]},
    description="Full name of the manufacturer as list_manufacturers gives it; any case.",
)
PLANE_FILTERS = (
    optional("manufacturer", text(40), "Only planes whose manufacturer's name contains this; any case."),
    optional("model", text(40), "Only planes whose model contains this; any case."),
    optional("min_year", whole(1900, 2013), "Only planes built in this year or later."),
    optional("max_year", whole(1900, 2013), "Only planes built in this year or earlier."),
    optional("min_seats", whole(1, 1000), "Only planes of at least this many seats."),
    optional("max_seats", whole(1, 1000), "Only planes of at most this many seats."),
)
WEATHER_AIRPORT = Parameter(
    name="airport",
    schema=schemas.NEW_YORK,
    description="New York airport: EWR is Newark, JFK Kennedy, LGA LaGuardia.",
)
NOTE = Parameter(name="note", schema=text(200), description="Why the flight is watched, at most 200 characters.")
WATCH = Parameter(
    name="watch_id", schema=schemas.WATCH_ID, description="Id of the watch, as create_watch or list_watches gives it."
)
PAGING = (
    optional("page", whole(1, 100_000, default=1), "Number of the page, from 1."),
    optional("page_size", whole(1, 200, default=50), "How many items a page has at most."),
)
