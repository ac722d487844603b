"""The movies service: a catalogue of films with scores, a review board, awards, box office and a programmer's desk.

Records name other records by opaque id, never by name, so that answers are found by carrying ids from call to call.
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
