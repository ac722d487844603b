"""Made-up values for properties: by type, format, name and enumeration, and always the same for the same key."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from protocols.jsontypes import Json
from toolflow_bench.restbench.chance import draw, labels
from toolflow_bench.restbench.document import Shape

_DAY_ZERO = date(1970, 1, 1)
_DAYS = 19_700  # to the end of 2023
_LANGUAGES = ("en", "fr", "ja", "es", "de")
_COUNTRIES = ("US", "GB", "FR", "JP", "DE")


def scalar(shape: Shape, name: str, *key: object, common: Sequence[str] = ()) -> Json:
    """A value of a schema without properties or items, for a property called `name`; a text is one of `common`."""
    schema, number = shape.schema, draw(*key, name)
    if "const" in schema:
        value: Json = schema["const"]
        return value
    if choices := schema.get("enum"):
        chosen: Json = choices[number % len(choices)]
        return chosen
    match shape.type:
        case "integer":
            return _whole(shape, name, number)
        case "number":
            high = 10.0 if "average" in name or "rating" in name else 100.0
            return round(number % 10_000 / 10_000 * high, 2)
        case "boolean":
            return number % 2 == 0
        case "string" if common:
            return common[number % len(common)]
        case "string":
            return _text(shape, name, number, key)
    return None


def _whole(shape: Shape, name: str, number: int) -> int:
    if name == "timestamp" or name.endswith("_ms"):
        return 60_000 + number % 240_000
    named = {"average": 10, "popularity": 100, "percent": 100, "gender": 2, "rating": 10, "order": 30, "runtime": 180}
    ceiling = next((most for part, most in named.items() if part in name), 5000)
    low, high = shape.schema.get("minimum", 0), shape.schema.get("maximum", ceiling)
    return int(low) + number % (int(high) - int(low) + 1)


def _text(shape: Shape, name: str, number: int, key: tuple[object, ...]) -> str:
    day = _DAY_ZERO + timedelta(days=number % _DAYS)
    match shape.schema.get("format"):
        case "date":
            return day.isoformat()
        case "date-time":
            return f"{day.isoformat()}T{number % 24:02d}:00:00Z"
        case "uri" | "url":
            return f"https://example.org/{number:x}"
    parts = name.lower().split("_")
    if parts[-1] == "at":
        return f"{day.isoformat()}T{number % 24:02d}:00:00Z"
    if "date" in parts or parts[-1] in ("birthday", "deathday", "maximum", "minimum"):
        return day.isoformat()
    if parts[-1] in ("url", "homepage", "href", "spotify"):
        return f"https://example.org/{number:x}"
    if parts[-1] == "path":
        return f"/{number:x}.jpg"
    if "language" in parts or name.startswith("iso_639"):
        return _LANGUAGES[number % len(_LANGUAGES)]
    if "country" in parts or name.startswith("iso_3166") or parts[-1] in ("market", "markets"):
        return _COUNTRIES[number % len(_COUNTRIES)]
    return labels(1, *key, name)[0]
