"""The flights service: every flight that left New York's airports in 2013, with its plane, its weather and its fate.

Records name other records by code, never by name, so that answers are found by carrying ids from call to call.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolflow_bench.services.flights.air import FLIGHT_OPERATIONS, PLANE_OPERATIONS, WATCH_OPERATIONS
from toolflow_bench.services.flights.booking_schemas import BOOKING_SCHEMAS
from toolflow_bench.services.flights.data import flights_database
from toolflow_bench.services.flights.desk import BOOKING_OPERATIONS
from toolflow_bench.services.flights.ground import (
    AIRLINE_OPERATIONS,
    AIRPORT_OPERATIONS,
    ROUTE_OPERATIONS,
    WEATHER_OPERATIONS,
)
from toolflow_bench.services.flights.schemas import SCHEMAS
from toolflow_bench.services.operation import Operation
from toolflow_bench.services.service import Service

if TYPE_CHECKING:
    from starlette.applications import Starlette

INFO = {
    "title": "New York flights 2013",
    "version": "1.0.0",
    "description": (
        "All 336,776 flights that were to leave Newark (EWR), Kennedy (JFK) and LaGuardia (LGA) in 2013, with their "
        "planes, airlines, destinations and the hourly weather. Times are local, delays are in minutes."
    ),
}

OPERATIONS: tuple[Operation, ...] = (
    *AIRPORT_OPERATIONS,
    *AIRLINE_OPERATIONS,
    *FLIGHT_OPERATIONS,
    *ROUTE_OPERATIONS,
    *PLANE_OPERATIONS,
    *WEATHER_OPERATIONS,
    *WATCH_OPERATIONS,
)
"""All but those of the booking desk: what `atc run` has where no tools are given."""

SERVICE = Service(
    name="flights",
    info=INFO,
    operations=(*OPERATIONS, *BOOKING_OPERATIONS),
    schemas={**SCHEMAS, **BOOKING_SCHEMAS},
    database=flights_database,
)


def create_app(database: Path | None = None) -> Starlette:
    """The service as `atc run` starts it where no tools are given: without the booking desk.

    Raises:
        SourceUnavailable: a package or the data is missing, or the cache folder cannot be written.
    """
    return replace(SERVICE, operations=OPERATIONS, schemas=SCHEMAS).app(database)
