"""Where the flights service's ids may be carried to, for the links of its OpenAPI document."""

from __future__ import annotations

from collections.abc import Sequence

from toolflow_bench.services.operation import Uses

# The usual next steps, not all there are: every use of an id at every source would drown a reader.
AIRPORT_USES: Uses = (
    ("get_airport", "airport"),
    ("list_nearby_airports", "airport"),
    ("list_departures", "destination"),
    ("list_arrivals", "destination"),
    ("get_route", "destination"),
    ("list_route_airlines", "destination"),
)
FOUND_AIRPORT_USES: Uses = (*AIRPORT_USES, ("list_departures", "origin"), ("list_destinations", "origin"))
AIRLINE_USES: Uses = (
    ("get_airline", "airline"),
    ("list_departures", "airline"),
    ("find_flights", "airline"),
    ("list_airline_planes", "airline"),
)
FOUND_AIRLINE_USES: Uses = (
    *AIRLINE_USES,
    ("list_arrivals", "airline"),
    ("list_departure_delays", "airline"),
    ("list_cancelled_flights", "airline"),
)
PLANE_USES: Uses = (
    ("get_plane", "tail_number"),
    ("list_plane_flights", "tail_number"),
    ("list_plane_airlines", "tail_number"),
)
FLIGHT_USES: Uses = (
    ("get_flight", "flight_id"),
    ("get_flight_status", "flight_id"),
    ("create_watch", "flight_id"),
)


def flight_links(*pointers: str) -> Sequence[tuple[str, Uses]]:
    """Links from the first flight of a list, by the fields it has."""
    uses: dict[str, Uses] = {
        "flight_id": FLIGHT_USES,
        "airline": (("get_airline", "airline"),),
        "destination": (("get_airport", "airport"),),
        "tail_number": PLANE_USES,
    }
    return [(f"/flights/0/{pointer}", uses[pointer]) for pointer in pointers]
