"""The places service: Atlantic storms since 1975, and the world's cities, countries and airfields.

Records refer to other records by id and never by name, so a task needs ids from earlier calls.
"""

from __future__ import annotations

import json

from toolflow_bench.services.places import handlers
from toolflow_bench.services.places.data import DATABASE
from toolflow_bench.services.places.names import plain_words, telling_words
from toolflow_bench.services.service import Service

SERVICE = Service.of(
    "places",
    handlers,
    database=DATABASE,
    functions={"fold": plain_words, "telling_words": lambda text: json.dumps(telling_words(text))},
)
