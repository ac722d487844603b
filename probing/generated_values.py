"""Invented values for an argument, derived from its type and limits, or else from its name."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from probing.argument_hints import ArgumentHint
from probing.infer import one_or_all
from probing.name_distance import FORMATS, NAMES, VALUES, NormalizedName, expand_name, url_text
from probing.samples import GENERATED_ORIGIN, Value
from probing.tool_facts import ArgumentFacts
from protocols.schema import Json, JsonObject, resolve, types

IMPROBABLE = "qzx~!7w"
"""A nonsense word that no service knows. It contains characters that most patterns refuse."""
_TEXTS = ("test", "a", "example", "hello")
_MOST = 100
"""Maximum number of values that are generated for one argument."""
_DEEPEST = 3
"""Maximum number of nested levels of arrays and objects that are generated."""
_SAID = frozenset({"type", "enum", "range", "length", "pattern", "format"})
"""Kinds of hints that state what a value must be."""
_DATES = ("2024-01-15", "2020-06-01", "2010-01-01", "2030-06-01", "2000-01-01")
_DATE_WORDS = frozenset(
    {"date", "birthday", "dob", "arrival", "checkin", "checkout", "departure", "since", "until"}
)
_RESTRICTIONS = frozenset({"type", "enum", "const", "pattern", "format", "$ref", "anyOf", "oneOf"})
"""JSON Schema keywords that state what a value must be."""
_EDGES = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def limits_of(argument: ArgumentFacts, root: JsonObject | None = None) -> dict[str, Any]:
    """Return the JSON Schema of an argument: its declared schema, with limits from error replies.

    `root` is the document in which references (`$ref`) of the declared schema are resolved.
    """
    declared = _flat(argument.declared, root or {})
    schema: dict[str, Any] = {"type": list(argument.types)} if argument.types else {}
    for clause in clauses(argument):
        schema |= {key: part for key, part in clause.items() if key != "type"}
    open_ = {key: part for key, part in schema.items() if key in _EDGES or key not in declared}
    return {**declared, **open_}


def clauses(argument: ArgumentFacts) -> Iterator[dict[str, Any]]:
    """Yield the hints on an argument as parts of a JSON Schema, such as `{"maximum": 50}`.

    If two parts have the same keyword, the later one applies.
    """
    listed = list(
        dict.fromkeys(value for hint in argument.hints_of_kind("enum") for value in hint.values)
    )
    if listed:
        takes_numbers = argument.types[:1] in (("integer",), ("number",))
        yield {"enum": [_as_number(value) for value in listed] if takes_numbers else listed}
    for hint in argument.hints:
        yield from _clause(hint, is_array="array" in argument.types)


def _clause(hint: ArgumentHint, *, is_array: bool) -> Iterator[dict[str, Any]]:
    """Yield the part of a JSON Schema that a hint states, if any.

    `enum` hints are left out, because the caller merges them.
    """
    limits = {"min": finite(hint.minimum), "max": finite(hint.maximum)}
    given = {end: value for end, value in limits.items() if value is not None}
    if hint.kind == "type" and hint.types:
        yield {"type": one_or_all(hint.types)}
    elif hint.kind == "range":
        yield {f"{end}imum": value for end, value in given.items()}
    elif hint.kind == "length":
        unit = "Items" if is_array else "Length"
        yield {f"{end}{unit}": int(value) for end, value in given.items() if value >= 0}
    elif hint.kind in ("pattern", "format") and (text := hint.pattern or hint.format):
        yield {hint.kind: text}


def _as_number(value: Json) -> Json:
    number = number_of(value)
    return value if number is None else number


def generate_values(argument: ArgumentFacts, root: JsonObject | None = None) -> Iterator[Value]:
    """Yield invented values for an argument, best first. Equal facts give equal values.

    The values have the type that is declared or stated in error replies, but may break other
    limits. If the type is unknown, values are derived from the argument's name, and `1`, `"test"`
    and `true` follow.
    """
    schema = limits_of(argument, root)
    for value in islice(_values(argument.name, schema, root or {}, _DEEPEST), _MOST):
        if argument.place != "path" or argument.types or not isinstance(value, list | dict | bool):
            yield Value(value, GENERATED_ORIGIN)


def make_bogus_value(argument: ArgumentFacts) -> Value | None:
    """Return a nonsense word to send as an argument's value.

    The tool's error reply may then state which values are valid. Return None if such a word was
    sent before, or if it is already known which values are valid.
    """
    if argument.unknown or any(hint.kind in _SAID for hint in argument.hints):
        return None
    if limits_of(argument).keys() & _RESTRICTIONS:
        return None
    for sent in (*argument.accepted, *argument.refused, *argument.not_found):
        if sent.is_generated and isinstance(sent.value, str) and not sent.value.isdigit():
            return None
    return Value(IMPROBABLE, GENERATED_ORIGIN)


def finite(value: Json) -> float | None:
    """Return a finite number as it is, and None for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None


def number_of(value: Json) -> float | None:
    """Return the number that a value is or contains (`5` for `"5"`), or None.

    Infinite numbers and booleans give None.
    """
    if isinstance(value, str):
        if not re.fullmatch(r"-?\d{1,18}(\.\d{1,18})?", value):
            return None
        return float(value) if "." in value else int(value)
    return finite(value)


def guess_values(name: str) -> tuple[Json, ...]:
    """Return likely values for an argument with this name, best first.

    Return an empty tuple if the name suggests no value.
    """
    own = expand_name(name).rstrip("0123456789_") or expand_name(name)
    words = own.split("_")
    while len(words) > 1 and words[-1] in NAMES["units"]:
        words.pop()
    if words[0] in NAMES["flags_begin"] or own in NAMES["flags"]:
        return (True, False)
    if own in VALUES:
        return VALUES[own]
    if NormalizedName(own, own).is_identifier and words[-1] not in VALUES:
        return ()
    return _guess_by_words(words)


def _guess_by_words(words: list[str]) -> tuple[Json, ...]:
    """Return values that the first and last words of a name suggest, such as dates for `start_at`.

    Return an empty tuple if they suggest none.
    """
    if words[-1] in ("datetime", "timestamp") or (words[-1] == "at" and len(words) > 1):
        return tuple(f"{day}T00:00:00Z" for day in _DATES)
    if set(words) & _DATE_WORDS:
        return _DATES
    if words[0] in ("max", "min", "maximum", "minimum") and words[-1] not in ("date", "year"):
        return VALUES[words[0]]
    return VALUES.get("_".join(words[-2:])) or VALUES.get(words[-1]) or ()


def _flat(schema: Any, root: JsonObject) -> JsonObject:
    """Return a schema without alternatives and without a `$ref` at its top level.

    The first subschema in `anyOf`, `oneOf` or `allOf` that allows more than null is merged into it.
    """
    here = resolve(schema, root)
    for keyword in ("anyOf", "oneOf", "allOf"):
        for part in here.get(keyword, ()):
            inner = resolve(part, root)
            if inner and types(inner) != ("null",):
                return {**inner, **{key: value for key, value in here.items() if key != keyword}}
    return here


def _values(name: str, schema: JsonObject, root: JsonObject, depth: int) -> Iterator[Json]:
    yield from schema.get("enum", ())
    yield from [schema["const"]] if "const" in schema else []
    kinds = [kind for kind in types(schema) if kind != "null"]
    if not kinds:
        yield from _strings(name, schema) if schema.keys() & {"pattern", "format"} else ()
        yield from (*guess_values(name), 1, "test", True)
    for kind in kinds:
        if kind in ("integer", "number"):
            yield from _numbers(name, schema, whole=kind == "integer")
        elif kind == "boolean":
            yield from (True, False)
        elif kind == "string":
            yield from _strings(name, schema)
        elif kind == "array" and depth:
            yield from _arrays(name, schema, root, depth)
        elif kind == "object" and depth:
            yield from _objects(schema, root, depth)


def _arrays(name: str, schema: JsonObject, root: JsonObject, depth: int) -> Iterator[Json]:
    element_name = expand_name(name).removesuffix("_list").removesuffix("s")
    elements = _values(element_name, _flat(schema.get("items", {}), root), root, depth - 1)
    yield from ([value] for value in islice(elements, 4))
    yield []


def _objects(schema: JsonObject, root: JsonObject, depth: int) -> Iterator[Json]:
    """Yield two invented objects that fit a schema: one with few properties, and one with more.

    The first has only the required properties, the second has the first ten properties of the
    schema.
    """
    properties = schema.get("properties", {})
    required = [name for name in schema.get("required", ()) if name in properties]
    for names in (required, list(properties)[:10]):
        yield {
            name: next(_values(name, _flat(properties[name], root), root, depth - 1), 1)
            for name in names
        }
    if not properties:
        yield {"name": "test"}


def _numbers(name: str, schema: JsonObject, *, whole: bool) -> Iterator[Json]:
    usual = [
        guess
        for guess in guess_values(name)
        if isinstance(guess, int | float) and not isinstance(guess, bool)
    ]
    edges = [edge for keyword in _EDGES if (edge := finite(schema.get(keyword))) is not None]
    step = finite(schema.get("multipleOf"))
    near = [edge + more for edge in edges for more in (0, 1, -1)]
    for value in (*usual, 1, 2, 10, 0, 100, *near, *([step, 10 * step] if step else [])):
        yield math.floor(value) if whole else value


def _strings(name: str, schema: JsonObject) -> Iterator[str]:
    form = str(schema.get("format", ""))
    guesses = [url_text(guess) for guess in guess_values(name)]
    shortest = int(schema.get("minLength") or 0)
    longest = finite(schema.get("maxLength"))
    if "pattern" in schema:  # one of these may match the pattern
        yield from (
            *guesses,
            *(text for texts in FORMATS.values() for text in texts),
            *_DATES,
            *_TEXTS,
        )
    elif form in ("date", "date-time"):
        yield from (day if form == "date" else f"{day}T00:00:00Z" for day in _DATES)
    elif form in FORMATS:
        yield from FORMATS[form]
    else:
        for text in (*guesses, *_TEXTS):
            if len(text) < shortest <= 10_000:
                text *= shortest // max(1, len(text)) + 1
            yield text if longest is None else text[: int(longest)]
