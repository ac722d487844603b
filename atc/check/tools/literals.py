"""Does a constant fit an argument's schema? The clauses that a program can break by writing one."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from atc.check.report import listed, nearest
from protocols.jsontypes import JsonObject
from protocols.schema import resolve, type_name, types

KIND = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "True or False",
    "array": "a list",
    "object": "a dict",
    "null": "None",
}


class Misfit(NamedTuple):
    """What a value must be and is not; `better` is a value to write instead, as Python, where one suggests itself."""

    wanted: str
    better: str | None = None


def misfit(value: Any, schema: Any, root: JsonObject, *, depth: int = 0) -> Misfit | None:
    """The first clause of `schema` that a JSON value breaks, or None. Clauses that we do not know are held to fit."""
    if not isinstance(schema, Mapping) or depth > 6:
        return None
    schema = resolve(schema, root)
    for part in schema.get("allOf") or ():
        if found := misfit(value, part, root, depth=depth + 1):
            return found
    for key in ("anyOf", "oneOf"):
        options = [misfit(value, part, root, depth=depth + 1) for part in schema.get(key) or ()]
        if options and all(options):
            return _of_options(value, schema[key], options, root)
    if value is None and schema.get("nullable") is True:
        return None
    return (
        _wrong_type(value, schema)
        or _not_listed(value, schema)
        or _out_of_range(value, schema)
        or _wrong_text(value, schema)
        or _wrong_inside(value, schema, root, depth)
    )


def _of_options(value: Any, parts: Any, options: list[Misfit | None], root: JsonObject) -> Misfit:
    """The complaint of the option that has the value's type: the others only say that the type differs."""
    name = type_name(value)
    for part, option in zip(parts, options, strict=False):
        if option and name in types(resolve(part, root)):
            return option
    wanted = dict.fromkeys(option.wanted for option in options if option)
    return Misfit(" or ".join(wanted))


def _wrong_type(value: Any, schema: JsonObject) -> Misfit | None:
    allowed = types(schema)
    name = type_name(value)
    if not allowed or name in allowed:
        return None
    if name == "integer" and "number" in allowed:
        return None
    if isinstance(value, float) and "integer" in allowed and value.is_integer():
        return None
    wanted = " or ".join(KIND.get(kind, kind) for kind in allowed)
    return Misfit(wanted, _converted(value, allowed))


def _converted(value: Any, allowed: tuple[str, ...]) -> str | None:
    match value:
        case str() if {"integer", "number"} & set(allowed) and re.fullmatch(r"-?\d+(\.\d+)?", value):
            return value if "." not in value or "number" in allowed else None
        case int() | float() if "string" in allowed and not isinstance(value, bool):
            return repr(str(value))
        case str() if "boolean" in allowed and value.lower() in ("true", "false"):
            return value.capitalize()
        case str() if "array" in allowed:
            return repr([value])
        case _:
            return None


def _not_listed(value: Any, schema: JsonObject) -> Misfit | None:
    choices = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if not isinstance(choices, list | tuple) or any(
        value == choice and isinstance(value, bool) == isinstance(choice, bool) for choice in choices
    ):
        return None
    texts = [choice for choice in choices if isinstance(choice, str)]
    near = nearest(value, texts) if isinstance(value, str) else None
    return Misfit(f"one of {listed(map(repr, choices))}", repr(near) if near else None)


def _out_of_range(value: Any, schema: JsonObject) -> Misfit | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    low, above = _bound(schema, "minimum", "exclusiveMinimum")
    high, below = _bound(schema, "maximum", "exclusiveMaximum")
    if low is not None and (value < low or (above and value == low)):
        return Misfit(f"{'more than' if above else 'at least'} {low}", None if above else repr(low))
    if high is not None and (value > high or (below and value == high)):
        return Misfit(f"{'less than' if below else 'at most'} {high}", None if below else repr(high))
    step = schema.get("multipleOf")
    if isinstance(step, int) and not isinstance(step, bool) and step > 0 and isinstance(value, int) and value % step:
        return Misfit(f"a multiple of {step}")
    return None


def _bound(schema: JsonObject, inclusive: str, exclusive: str) -> tuple[float | None, bool]:
    """A limit and whether it is itself excluded; OpenAPI 3.0 says the latter with a boolean."""
    limit, strict = schema.get(inclusive), schema.get(exclusive)
    if isinstance(strict, int | float) and not isinstance(strict, bool):
        return strict, True
    if isinstance(limit, int | float) and not isinstance(limit, bool):
        return limit, strict is True
    return None, False


def _wrong_text(value: Any, schema: JsonObject) -> Misfit | None:
    if not isinstance(value, str):
        return None
    shortest, longest, pattern = schema.get("minLength"), schema.get("maxLength"), schema.get("pattern")
    if isinstance(shortest, int) and len(value) < shortest:
        return Misfit(f"a string of at least {shortest} character{'s' * (shortest != 1)}")
    if isinstance(longest, int) and len(value) > longest:
        return Misfit(f"a string of at most {longest} characters")
    if isinstance(pattern, str) and matches(pattern, value) is False:
        return Misfit(f"a string that matches the pattern {pattern!r}")
    return _wrong_format(value, schema.get("format"))


def matches(pattern: str, value: str) -> bool | None:
    """None where Python reads the pattern otherwise than JSON Schema may."""
    if len(pattern) > 200 or len(value) > 200 or re.search(r"[+*}]\)?[+*{]|\\[pPuUcC]|\(\?[^:=!]|\\[zZA]|\[:", pattern):
        return None
    try:
        return re.search(pattern, value) is not None
    except re.error:
        return None


def _wrong_format(value: str, name: Any) -> Misfit | None:
    match name:
        case "date":
            fits = bool(re.fullmatch(r"\d{4}-\d\d-\d\d", value)) and _is_date(value)
            return None if fits else Misfit("a date such as '2013-01-31'")
        case "date-time":
            fits = bool(re.match(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d", value)) and _is_date(value[:10])
            return None if fits else Misfit("a date and time such as '2013-01-31T08:30:00Z'")
        case "uuid":
            fits = bool(re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", value))
            return None if fits else Misfit("a UUID")
        case "email":
            return None if "@" in value else Misfit("an e-mail address")
        case _:
            return None


def _is_date(value: str) -> bool:
    try:
        datetime.date.fromisoformat(value)
    except ValueError:
        return False
    return True


def _wrong_inside(value: Any, schema: JsonObject, root: JsonObject, depth: int) -> Misfit | None:
    if isinstance(value, list):
        return _wrong_items(value, schema, root, depth)
    if not isinstance(value, dict):
        return None
    properties = schema.get("properties") or {}
    lacking = [key for key in schema.get("required") or () if key not in value]
    if lacking:
        return Misfit(f"a dict with the key {lacking[0]!r}; its keys are {listed(properties)}")
    if schema.get("additionalProperties") is False and not schema.get("patternProperties"):
        for key in value:
            if key not in properties:
                return Misfit(f"a dict without the key {key!r}; its keys are {listed(properties)}")
    for key, inner in value.items():
        if key in properties and (found := misfit(inner, properties[key], root, depth=depth + 1)):
            return Misfit(f"a dict whose {key!r} is {found.wanted}")
    return None


def _wrong_items(value: list[Any], schema: JsonObject, root: JsonObject, depth: int) -> Misfit | None:
    fewest, most = schema.get("minItems"), schema.get("maxItems")
    if isinstance(fewest, int) and len(value) < fewest:
        return Misfit(f"a list of at least {fewest} item{'s' * (fewest != 1)}")
    if isinstance(most, int) and len(value) > most:
        return Misfit(f"a list of at most {most} items")
    if isinstance(schema.get("items"), Mapping) and "prefixItems" not in schema:
        for item in value:
            if found := misfit(item, schema["items"], root, depth=depth + 1):
                return Misfit(f"a list in which each item is {found.wanted}")
    return None
