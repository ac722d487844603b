"""The places service: Atlantic storms since 1975, and the cities, countries and airfields of the world.

Records name other records by id, never by name, so that answers are found by carrying ids from call to call.
"""

from __future__ import annotations

from toolflow_bench.services.operation import Operation
from toolflow_bench.services.places.airfields import AIRFIELD_OPERATIONS
from toolflow_bench.services.places.cities import CITY_OPERATIONS
from toolflow_bench.services.places.countries import COUNTRY_OPERATIONS
from toolflow_bench.services.places.data import places_database
from toolflow_bench.services.places.schemas import SCHEMAS
from toolflow_bench.services.places.storms import STORM_OPERATIONS
from toolflow_bench.services.places.writes import WRITE_OPERATIONS
from toolflow_bench.services.service import Service

INFO = {
    "title": "Storms and places",
    "version": "1.0.0",
    "description": (
        "The observed tracks of 654 Atlantic storms from 1975 to 2022, 34,006 cities, 252 countries and territories, "
        "the states and counties of the United States and 28,298 airfields. Times are UTC, winds in knots, distances "
        "in kilometres and elevations in feet."
    ),
}

OPERATIONS: tuple[Operation, ...] = (
    *STORM_OPERATIONS,
    *CITY_OPERATIONS,
    *COUNTRY_OPERATIONS,
    *AIRFIELD_OPERATIONS,
    *WRITE_OPERATIONS,
)

SERVICE = Service(name="places", info=INFO, operations=OPERATIONS, schemas=SCHEMAS, database=places_database)
