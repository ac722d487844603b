"""The baseball service: major-league players, teams, ballparks and honours from 1871 to 2020.

Records refer to other records by id and never by name, so a task needs ids from earlier calls.
"""

from __future__ import annotations

import json

from toolflow_bench.services.baseball import handlers
from toolflow_bench.services.baseball.data import DATABASE, plain_words
from toolflow_bench.services.service import Service

SERVICE = Service.of(
    "baseball",
    handlers,
    database=DATABASE,
    functions={"words": lambda text: json.dumps(plain_words(text))},
)
