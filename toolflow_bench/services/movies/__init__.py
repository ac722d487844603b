"""The movies service: films with scores, reviews, awards and box office, and a festival.

The festival's programmer uses the service to plan screenings. Records refer to other records by
opaque id and never by name, so a task needs ids from earlier calls.
"""

from __future__ import annotations

import json

from toolflow_bench.services.movies import handlers
from toolflow_bench.services.movies.data import DATABASE
from toolflow_bench.services.movies.titles import key
from toolflow_bench.services.service import Service

SERVICE = Service.of(
    "movies",
    handlers,
    database=DATABASE,
    functions={"words": lambda text: json.dumps(key(text).split())},
)
