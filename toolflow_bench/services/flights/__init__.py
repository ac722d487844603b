"""The flights service: all flights from New York's airports in 2013, with planes and weather.

Records refer to other records by code and never by name, so a task needs codes from earlier calls.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolflow_bench.services.flights import handlers
from toolflow_bench.services.flights.data import DATABASE
from toolflow_bench.services.service import Service

if TYPE_CHECKING:
    from starlette.applications import Starlette

SERVICE = Service.of("flights", handlers, database=DATABASE)

BUILT_IN = tuple(
    one
    for one in SERVICE.operations
    if one.entry["tags"] != ["bookings"] and one.id != "list_flight_dates"
)
"""Operations of the demo service that `atc run` starts if no tools are given.

The operations that book flights are left out.
"""


def create_app(database: Path | None = None) -> Starlette:
    """Return the demo service that `atc run` starts if no tools are given. It has no bookings.

    Raises:
        SourceUnavailable: a package or the data is missing, or the cache folder cannot be written.
    """
    return replace(SERVICE, operations=BUILT_IN).app(database)
