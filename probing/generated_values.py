"""Values made up for an argument: by its type and limits, else by its name."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from probing.infer import one_or_all
from probing.name_distance import FORMATS, NAMES, VALUES, NormalizedName, expand_name, url_text
from probing.samples import GENERATED_ORIGIN, Value
from probing.tool_facts import ArgumentFacts
from protocols.schema import Json, JsonObject, resolve, types

IMPROBABLE = "qzx~!7w"
"""A word that no service knows, with characters that most patterns refuse."""
_TEXTS = ("test", "a", "example", "hello")
_MOST = 100
_DEEPEST = 3
_SAID = frozenset({"type", "enum", "range", "length", "pattern", "format"})
_DATES = ("2024-01-15", "2020-06-01", "2010-01-01", "2030-06-01", "2000-01-01")
_EDGES = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def limits_of(argument: ArgumentFacts, root: JsonObject | None = None) -> dict[str, Any]:
    """What an argument's value must be, as one JSON Schema: what is declared, made narrower by what replies told."""
    declared = _flat(argument.declared, root or {})
    schema: dict[str, Any] = {"type": list(argument.types)} if argument.types else {}
    for clause in clauses(argument):
        schema |= {key: part for key, part in clause.items() if key != "type"}
    open_ = {key: part for key, part in schema.items() if key in _EDGES or key not in declared}
    return {**declared, **open_}


def clauses(argument: ArgumentFacts) -> Iterator[dict[str, Any]]:
    """What replies told of one argument, as clauses of JSON Schema; of those that differ the last counts."""
    numbers = argument.types[:1] in (("integer",), ("number",))
    listed = list(dict.fromkeys(value for hint in argument.told("enum") for value in hint.values))
    if listed:
        yield {
            "enum": [
                number_of(value) if numbers and number_of(value) is not None else value
                for value in listed
            ]
        }
    for hint in argument.hints:
        ends = {"min": finite(hint.minimum), "max": finite(hint.maximum)}
        given = {end: value for end, value in ends.items() if value is not None}
        if hint.kind == "type" and hint.types:
            yield {"type": one_or_all(hint.types)}
        elif hint.kind == "range":
            yield {f"{end}imum": value for end, value in given.items()}
        elif hint.kind == "length":
            unit = "Items" if "array" in argument.types else "Length"
            yield {f"{end}{unit}": int(value) for end, value in given.items() if value >= 0}
        elif hint.kind in ("pattern", "format") and (word := hint.pattern or hint.format):
            yield {hint.kind: word}


def generate_values(argument: ArgumentFacts, root: JsonObject | None = None) -> Iterator[Value]:
    """Values made up for an argument, best first, the same for the same facts.

    They are of the type that is declared or was told; whether a limit excludes one is not judged here. Where nothing is
    known of the type, the name decides, and what comes last is `1`, `"test"` and `true`.
    """
    schema = limits_of(argument, root)
    for value in islice(_values(argument.name, schema, root or {}, _DEEPEST), _MOST):
        if argument.place != "path" or argument.types or not isinstance(value, list | dict | bool):
            yield Value(value, GENERATED_ORIGIN)


def make_bogus_value(argument: ArgumentFacts) -> Value | None:
    """A word that a tool which checks anything refuses, so that its reply tells what it wants.

    None where a word was made up for it before, or where it is known what the argument must be.
    """
    told = limits_of(argument).keys() & {
        "type",
        "enum",
        "const",
        "pattern",
        "format",
        "$ref",
        "anyOf",
        "oneOf",
    }
    sent = (*argument.accepted, *argument.refused, *argument.not_found)
    word = any(v.is_generated and isinstance(v.value, str) and not v.value.isdigit() for v in sent)
    if told or word or argument.unknown or any(hint.kind in _SAID for hint in argument.hints):
        return None
    return Value(IMPROBABLE, GENERATED_ORIGIN)


def finite(value: Json) -> float | None:
    """The value if it is a number that can be written down; None for others, infinity among them."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None


def number_of(value: Json) -> float | None:
    """A number, also one that is written as a text; None for anything else."""
    if isinstance(value, str):
        digits = re.fullmatch(r"-?\d{1,18}(\.\d{1,18})?", value)
        return None if digits is None else float(value) if "." in value else int(value)
    return finite(value)


def guess_values(name: str) -> tuple[Json, ...]:
    """Good guesses by an argument's name, best first; empty where the name says nothing."""
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
    if words[-1] in ("datetime", "timestamp") or (words[-1] == "at" and len(words) > 1):
        return tuple(f"{day}T00:00:00Z" for day in _DATES)
    if set(words) & {
        "date",
        "birthday",
        "dob",
        "arrival",
        "checkin",
        "checkout",
        "departure",
        "since",
        "until",
    }:
        return _DATES
    if words[0] in ("max", "min", "maximum", "minimum") and words[-1] not in ("date", "year"):
        return VALUES[words[0]]
    return VALUES.get("_".join(words[-2:])) or VALUES.get(words[-1]) or ()


def _flat(schema: Any, root: JsonObject) -> JsonObject:
    """A schema with its reference followed, and of alternatives the first that is not null."""
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
            one = expand_name(name).removesuffix("_list").removesuffix("s")
            inside = _values(one, _flat(schema.get("items", {}), root), root, depth - 1)
            yield from ([value] for value in islice(inside, 4))
            yield []
        elif kind == "object" and depth:
            inner = schema.get("properties", {})
            for names in ([n for n in schema.get("required", ()) if n in inner], list(inner)[:10]):
                yield {
                    n: next(_values(n, _flat(inner[n], root), root, depth - 1), 1) for n in names
                }
            yield from [] if inner else [{"name": "test"}]


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
    if "pattern" in schema:  # one of them may happen to conform
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
