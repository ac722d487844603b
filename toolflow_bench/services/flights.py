"""The flights service: every flight that left New York's airports in 2013, with its plane, its weather and its fate.

Records name other records by code, never by name, so that answers are found by carrying ids from call to call.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from protocols.errors import SourceUnavailable
from toolflow_bench.services.data import flights_database
from toolflow_bench.services.flights_air import FLIGHT_OPERATIONS, PLANE_OPERATIONS, WATCH_OPERATIONS
from toolflow_bench.services.flights_ground import (
    AIRLINE_OPERATIONS,
    AIRPORT_OPERATIONS,
    ROUTE_OPERATIONS,
    WEATHER_OPERATIONS,
)
from toolflow_bench.services.flights_queries import Connections, Context
from toolflow_bench.services.flights_schemas import SCHEMAS
from toolflow_bench.services.operation import Operation
from toolflow_bench.services.rest import build_app
from toolflow_bench.services.serve import INSTALL

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


def create_app(database: Path | None = None) -> Starlette:
    """The service, to be run by `toolflow_bench.services.serve.serve`.

    `database` is what `flights_database` gave; without one it is found or built in the cache folder, which takes some
    seconds the first time. Watches live as long as the application.

    Raises:
        SourceUnavailable: a package or the data is missing, or the cache folder cannot be written.
    """
    connections = Connections(database or flights_database())
    try:
        return build_app(OPERATIONS, context=Context(connections), info=INFO, schemas=SCHEMAS, close=connections.close)
    except ImportError as error:
        raise SourceUnavailable(
            f"the flights service needs {error.name!r}, which is not installed; {INSTALL}"
        ) from error
