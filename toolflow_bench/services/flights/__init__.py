"""The flights service: every flight that left New York's airports in 2013, with its plane, its weather and its fate.

Records name other records by code, never by name, so that answers are found by carrying ids from call to call.
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
"""All but those of the booking desk: what `atc run` has where no tools are given."""


def create_app(database: Path | None = None) -> Starlette:
    """The service as `atc run` starts it where no tools are given: without the booking desk.

    Raises:
        SourceUnavailable: a package or the data is missing, or the cache folder cannot be written.
    """
    return replace(SERVICE, operations=BUILT_IN).app(database)
