"""Bounded schemas of numbers, of open objects, and of values of any type."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeGuard

from protocols.schema import types

INTEGER_LIMIT = 10**18
NUMBER_LIMIT = 10**15
"""Largest absolute values if a schema sets no bound. llguidance supports ranges up to about
these.
"""
_KEY = "^[A-Za-z_][A-Za-z0-9_]{0,30}$"
"""Pattern of the keys of an object whose schema names no keys."""
MOST_KEYS = 5
"""Maximum number of keys of an object whose schema names no keys, and of items of a list whose
schema does not restrict the items.
"""
FEWEST_CHARACTERS = 40
"""Minimum length limit of any string."""


class Impossible(Exception):
    """No value of finite size conforms to a schema."""


def open_object(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object whose keys are not named."""
    named = {"patternProperties": {_KEY: values}, "maxProperties": MOST_KEYS}
    return {"type": "object", **named, "additionalProperties": False}


def number_schema(kind: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a number with both bounds, which keeps it finite and without
    exponent.
    """
    limit = INTEGER_LIMIT if kind == "integer" else NUMBER_LIMIT
    found: dict[str, Any] = {"type": kind}
    for key, sign in (("minimum", -1), ("maximum", 1)):
        bounds = _integer_bound(schema, key) if kind == "integer" else _bounds(schema, key)
        usable = {name: value for name, value in bounds.items() if abs(value) <= limit}
        found |= usable or {key: sign * limit}
    low = max(found.get("minimum", -math.inf), found.get("exclusiveMinimum", -math.inf))
    if low > min(found.get("maximum", math.inf), found.get("exclusiveMaximum", math.inf)):
        raise Impossible("its minimum is above its maximum")
    if is_number(step := schema.get("multipleOf")):
        found["multipleOf"] = step
    return found


def _bounds(schema: Mapping[str, Any], key: str) -> dict[str, int | float]:
    """Return the bounds that a schema sets under `key` (`minimum` or `maximum`) and its exclusive
    form.
    """
    names = (key, f"exclusive{key.capitalize()}")
    return {name: schema[name] for name in names if is_number(schema.get(name))}


def _integer_bound(schema: Mapping[str, Any], key: str) -> dict[str, int | float]:
    """Return the bounds of an integer under `key` as one inclusive bound, or {} if there are
    none.
    """
    ends = []
    for name, value in _bounds(schema, key).items():
        if key == "minimum":
            ends.append(math.ceil(value) if name == key else math.floor(value) + 1)
        else:
            ends.append(math.floor(value) if name == key else math.ceil(value) - 1)
    if not ends:
        return {}
    return {key: max(ends) if key == "minimum" else min(ends)}


def any_value_schema(room: int) -> dict[str, Any]:
    """Return a schema of any value, with one level of values within it."""
    plain = [number_schema("number", {}), {"type": "boolean"}, {"type": "null"}]
    short = [{"type": "string", "maxLength": FEWEST_CHARACTERS}, *plain]
    listed = {"type": "array", "items": {"anyOf": short}, "maxItems": MOST_KEYS}
    text = {"type": "string", "maxLength": max(FEWEST_CHARACTERS, room)}
    return {"anyOf": [text, *plain, listed, open_object({"anyOf": [*short, listed]})]}


def have_distinct_types(options: list[dict[str, Any]]) -> bool:
    """Return True if no value conforms to two of the alternatives, judged by their types."""
    kinds = [
        "number" if kind == "integer" else kind
        for option in options
        for kind in ({*types(option)} or {"?"})
    ]
    return "?" not in kinds and len(set(kinds)) == len(kinds)


def read_count(schema: Mapping[str, Any], key: str, default: int) -> int:
    """Return the count under `key` of a schema, or `default` if it is missing or invalid."""
    value = schema.get(key)
    return int(value) if is_number(value) and value >= 0 else default


def is_number(value: Any) -> TypeGuard[int | float]:
    """Return True if the value is a finite number and not a boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
