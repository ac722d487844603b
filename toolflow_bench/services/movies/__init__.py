"""The movies service: a catalogue of films with scores, a review board, awards, box office and a programmer's desk.

Records name other records by opaque id, never by name, so that answers are found by carrying ids from call to call.
"""

from __future__ import annotations

from toolflow_bench.services.movies.awards import AWARD_OPERATIONS
from toolflow_bench.services.movies.data import movies_database
from toolflow_bench.services.movies.films import BOX_OFFICE_OPERATIONS, FILM_OPERATIONS
from toolflow_bench.services.movies.programme import PROGRAMME_OPERATIONS
from toolflow_bench.services.movies.reviews import REVIEW_OPERATIONS
from toolflow_bench.services.movies.schemas import SCHEMAS
from toolflow_bench.services.operation import Operation
from toolflow_bench.services.service import Service

INFO = {
    "title": "Film archive",
    "version": "1.0.0",
    "description": (
        "62,000 films from 1893 to 2019 with the public's scores, 99,997 reviews by 671 members of a review board, the "
        "Academy Awards for leading roles, some box office, and the desk of a festival's programmer. Times are UTC "
        "but for the festival's; money is in US dollars."
    ),
}

OPERATIONS: tuple[Operation, ...] = (
    *FILM_OPERATIONS,
    *REVIEW_OPERATIONS,
    *AWARD_OPERATIONS,
    *BOX_OFFICE_OPERATIONS,
    *PROGRAMME_OPERATIONS,
)

SERVICE = Service(name="movies", info=INFO, operations=OPERATIONS, schemas=SCHEMAS, database=movies_database)
