"""Values of one argument that a model proposes, where no other source has any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from probing.facts import ArgumentFacts
from protocols.jsontypes import Json, JsonObject
from protocols.schema import type_name, types, violations

MOST_VALUES = 5
_LONGEST = 200
_EMPTY_WORDS = frozenset({"", "example", "none", "null", "placeholder", "string", "text", "unknown", "value"})


def reply_schema(schema: JsonObject) -> dict[str, Any]:
    """JSON Schema of a reply that proposes values of an argument with this schema.

    Types alone are passed on: a foreign pattern or bound may be more than a model's grammar can hold, so that these
    are looked at afterwards.
    """
    kinds = [kind for kind in types(schema) if kind != "null"] or ["string", "integer"]
    item: dict[str, Any] = {"type": kinds[0] if len(kinds) == 1 else kinds}
    if "array" in kinds:
        inner = schema.get("items")
        inside = list(types(inner)) if isinstance(inner, dict) else []
        item = {"type": "array", "items": {"type": inside[0] if inside else "string"}, "minItems": 1, "maxItems": 3}
    return {
        "type": "object",
        "properties": {"values": {"type": "array", "items": item, "minItems": 1, "maxItems": MOST_VALUES}},
        "required": ["values"],
        "additionalProperties": False,
    }


def usable(values: Iterable[Json], argument: ArgumentFacts, schema: JsonObject) -> Iterator[Json]:
    """The values that may be tried: as the schema has them, none twice, none tried before."""
    tried = {repr(v.value) for v in (*argument.accepted, *argument.refused, *argument.not_found)}
    for value in values:
        if repr(value) not in tried and _sensible(value, argument.name) and _allowed(value, schema):
            tried.add(repr(value))
            yield value


def _sensible(value: Json, name: str) -> bool:
    if isinstance(value, str):
        return (
            len(value) <= _LONGEST
            and value.isprintable()
            and value.strip().lower() not in _EMPTY_WORDS | {name.lower()}
        )
    if isinstance(value, list):
        return bool(value) and all(_sensible(item, name) for item in value)
    return type_name(value) != "null"


def _allowed(value: Json, schema: JsonObject) -> bool:
    try:
        return not violations(schema, value)
    except ValueError:
        return True  # a schema that cannot be one refuses nothing
