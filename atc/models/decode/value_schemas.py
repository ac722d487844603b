"""Builds bounded schemas, whose values have a limited size.

They are schemas of numbers, of objects with any keys, and of values of any type.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeGuard

from protocols.schema import types

INTEGER_LIMIT = 10**18
NUMBER_LIMIT = 10**15
"""Largest absolute values of an integer and of another number if their schema sets no bound.
llguidance does not support much larger ones.
"""
_KEY = "^[A-Za-z_][A-Za-z0-9_]{0,30}$"
"""Pattern of the keys of an object whose schema names no keys."""
MOST_KEYS = 5
"""Maximum number of keys of an object whose schema names no keys, and of items of a list whose
schema does not restrict the items.
"""
FEWEST_CHARACTERS = 40
"""Any string may always have at least this many characters, unless its schema forbids it."""


class Impossible(Exception):
    """No value of finite size conforms to a schema."""


def open_object(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with any keys, whose values conform to the schema `values`."""
    named = {"patternProperties": {_KEY: values}, "maxProperties": MOST_KEYS}
    return {"type": "object", **named, "additionalProperties": False}


def number_schema(kind: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a number with a lower and an upper bound.

    `kind` is the type, `integer` or `number`. If `schema` sets no bound, a default is used. So the
    number is finite and is written without an exponent.

    Raises:
        Impossible: the minimum is above the maximum.
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
    """Return the lower or the upper bounds that a number's schema sets, keyed by keyword.

    If `key` is `minimum`, they are the values of `minimum` and `exclusiveMinimum`; if it is
    `maximum`, those of `maximum` and `exclusiveMaximum`.
    """
    names = (key, f"exclusive{key.capitalize()}")
    return {name: schema[name] for name in names if is_number(schema.get(name))}


def _integer_bound(schema: Mapping[str, Any], key: str) -> dict[str, int | float]:
    """Return the lower or the upper bounds of an integer as a single inclusive one.

    `key` is `minimum` or `maximum`; the result has this key. It is {} if the schema sets no such
    bound.
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
    """Return a schema for any value, in which lists and objects are not deeply nested.

    The items of a list are strings, numbers, booleans or null. The values of an object may also be
    such lists. `room` is the maximum length of a string.
    """
    plain = [number_schema("number", {}), {"type": "boolean"}, {"type": "null"}]
    short = [{"type": "string", "maxLength": FEWEST_CHARACTERS}, *plain]
    listed = {"type": "array", "items": {"anyOf": short}, "maxItems": MOST_KEYS}
    text = {"type": "string", "maxLength": max(FEWEST_CHARACTERS, room)}
    return {"anyOf": [text, *plain, listed, open_object({"anyOf": [*short, listed]})]}


def have_distinct_types(options: list[dict[str, Any]]) -> bool:
    """Return True if the alternatives have different types, so that no value conforms to two."""
    kinds = [
        "number" if kind == "integer" else kind
        for option in options
        for kind in ({*types(option)} or {"?"})
    ]
    return "?" not in kinds and len(set(kinds)) == len(kinds)


def read_count(schema: Mapping[str, Any], key: str, default: int) -> int:
    """Return the number of a keyword such as `minItems`, or `default` if missing or invalid."""
    value = schema.get(key)
    return int(value) if is_number(value) and value >= 0 else default


def is_number(value: Any) -> TypeGuard[int | float]:
    """Return True if the value is a finite number and not a boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
