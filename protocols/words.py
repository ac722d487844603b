"""Names as words: one spelling for `flightId`, `flight-id` and `flight_ids`."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=16_384)
def snake(name: str) -> str:
    """`flightId`, `flight-id` → `flight_id`."""
    split = re.sub(r"([a-z0-9])([A-Z])|([A-Z]+)([A-Z][a-z])", r"\1\3_\2\4", name)
    return re.sub(r"[^a-z0-9]+", "_", split.lower()).strip("_")


@lru_cache(maxsize=16_384)
def singular(name: str) -> str:
    """`airport_codes` → `airport_code`, `cities` → `city`, `addresses` → `address`."""
    if name.endswith("ies") and len(name) > 4 and name not in ("series", "movies"):
        return f"{name[:-3]}y"
    if name.endswith(("sses", "xes", "ches", "shes")):
        return name[:-2]
    return name[:-1] if name.endswith("s") and not name.endswith(("ss", "us", "is", "series")) else name
