"""Whether OpenAI can hold a reply to a JSON Schema: its `strict` takes a subset, and refuses the request beyond it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

# fmt: off
_KEYWORDS = frozenset((
    "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs",
    "definitions", "title", "description", "pattern", "format", "multipleOf", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "minItems", "maxItems",
))
_FORMATS = frozenset(("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"))
# fmt: on
_MOST_PROPERTIES, _MOST_DEPTH = 5000, 10


def fits(schema: Mapping[str, Any]) -> bool:
    """Whether `strict` takes it: an object at the top, every object closed, all keys required, known keywords."""
    if schema.get("type") != "object" or "anyOf" in schema:
        return False
    parts = list(_parts(schema, depth=1))
    if not all(depth <= _MOST_DEPTH and _fits(part) for part, depth in parts):
        return False
    return sum(len(part.get("properties", ())) for part, _ in parts) <= _MOST_PROPERTIES


def _fits(part: Any) -> bool:
    if not isinstance(part, Mapping) or not part.keys() <= _KEYWORDS or part.get("format", "date") not in _FORMATS:
        return False
    if not part.keys() & {"type", "enum", "const", "anyOf", "$ref"}:
        return False  # anything at all
    kinds = part.get("type", ())
    if "object" in ([kinds] if isinstance(kinds, str) else kinds):
        closed = part.get("additionalProperties") is False
        return closed and set(part.get("required", ())) == set(part.get("properties", ()))
    return "array" not in ([kinds] if isinstance(kinds, str) else kinds) or "items" in part


def _parts(schema: Any, *, depth: int) -> Iterator[tuple[Any, int]]:
    """The schema and those within it, with how deep they stand."""
    yield schema, depth
    if isinstance(schema, Mapping) and depth <= _MOST_DEPTH:
        for name in ("properties", "$defs", "definitions"):
            named = schema.get(name)
            for part in named.values() if isinstance(named, Mapping) else ():
                yield from _parts(part, depth=depth + 1)
        if "items" in schema:
            yield from _parts(schema["items"], depth=depth + 1)
        for part in schema.get("anyOf", ()):
            yield from _parts(part, depth=depth + 1)
