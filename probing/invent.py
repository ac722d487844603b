"""Values made up for an argument: by its type and limits, else by its name."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from probing.facts import ArgumentFacts
from probing.infer import conforms, one_or_all
from probing.names import FORMATS, NAMES, VALUES, Name, text_of, words_of
from probing.samples import MADE_UP, Value
from protocols.jsontypes import Json, JsonObject
from protocols.schema import resolve, types, validator

IMPROBABLE = "qzx~!7w"
"""A word that no service knows, with characters that most patterns refuse."""
_TEXTS = ("test", "a", "example", "hello")
_PLAIN: tuple[Json, ...] = (1, "test", True)
_MOST, _DEEPEST = 24, 3
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
        yield {"enum": [number_of(value) if numbers and number_of(value) is not None else value for value in listed]}
    for hint in argument.hints:
        low, high = finite(hint.minimum), finite(hint.maximum)
        if hint.kind == "type" and hint.types:
            yield {"type": one_or_all(hint.types)}
        elif hint.kind == "range":
            yield {key: edge for key, edge in (("minimum", low), ("maximum", high)) if edge is not None}
        elif hint.kind == "length":
            unit = "Items" if "array" in argument.types else "Length"
            yield {f"min{unit}": int(low)} if low is not None and low >= 0 else {}
            yield {f"max{unit}": int(high)} if high is not None and high >= 0 else {}
        elif hint.kind in ("pattern", "format") and (word := hint.pattern or hint.format):
            yield {hint.kind: word}


def made_up(argument: ArgumentFacts, root: JsonObject | None = None) -> Iterator[Value]:
    """Values made up for an argument, best first, none twice, the same for the same facts.

    Each fits the type and the limits that are declared or were told; where nothing is known of the type, the name
    decides, and what comes last is `1`, `"test"` and `true`.
    """
    seen: set[str] = set()
    schema = limits_of(argument, root)
    for value in islice(_values(argument.name, schema, root or {}, _DEEPEST), 4 * _MOST):
        if argument.place == "path" and isinstance(value, list | dict | bool) and not argument.types:
            continue
        if repr(value) not in seen and len(seen) < _MOST:
            seen.add(repr(value))
            yield Value(value, MADE_UP)


def bogus(argument: ArgumentFacts) -> Value | None:
    """A word that a tool which checks anything refuses, so that its reply tells what it wants.

    None where a word was made up for it before, or where it is known what the argument must be.
    """
    told = limits_of(argument).keys() & {"type", "enum", "const", "pattern", "format", "$ref", "anyOf", "oneOf"}
    sent = (*argument.accepted, *argument.refused, *argument.not_found)
    word = any(v.made_up and isinstance(v.value, str) and not v.value.isdigit() for v in sent)
    if told or word or argument.unknown or any(hint.kind in _SAID for hint in argument.hints):
        return None
    return Value(IMPROBABLE, MADE_UP)


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
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def named(name: str) -> tuple[Json, ...]:
    """Good guesses by an argument's name, best first; empty where the name says nothing."""
    own = words_of(name).rstrip("0123456789_") or words_of(name)
    words = own.split("_")
    while len(words) > 1 and words[-1] in NAMES["units"]:
        words.pop()
    if words[0] in NAMES["flags_begin"] or own in NAMES["flags"]:
        return (True, False)
    if own in VALUES:
        return VALUES[own]
    if Name(own, own).identifies and words[-1] not in VALUES:
        return ()
    if words[-1] in ("datetime", "timestamp") or (words[-1] == "at" and len(words) > 1):
        return tuple(f"{day}T00:00:00Z" for day in _DATES)
    if set(words) & {"date", "birthday", "dob", "arrival", "checkin", "checkout", "departure", "since", "until"}:
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
        if schema.keys() & {"pattern", "format"}:
            yield from _strings(name, schema)
        yield from (guess for guess in named(name) if _fits(schema, guess))
        if schema.keys() & set(_EDGES):
            yield from _numbers(name, schema, whole=True)
        if words_of(name).endswith(
            ("ids", "codes", "names", "tags", "list", "array", "items", "keys", "values", "emails")
        ):
            yield from ([value] for value in (*named(name), "test", 1))
        yield from _PLAIN
    for kind in kinds:
        if kind in ("integer", "number"):
            yield from _numbers(name, schema, whole=kind == "integer")
        elif kind == "boolean":
            yield from (True, False)
        elif kind == "string":
            yield from _strings(name, schema)
        elif kind == "array" and depth:
            least = min(int(schema.get("minItems", 0) or 0), 20)
            one = words_of(name).removesuffix("_list").removesuffix("s")
            inside = list(islice(_values(one, _flat(schema.get("items", {}), root), root, depth - 1), max(4, least)))
            yield from ([value] for value in inside) if least <= 1 else iter([(inside * least)[:least]])
            yield from [] if least else [[]]
        elif kind == "object" and depth:
            inner = schema.get("properties", {})
            for names in ([n for n in schema.get("required", ()) if n in inner], list(inner)[:10]):
                yield {n: next(_values(n, _flat(inner[n], root), root, depth - 1), 1) for n in names}
            yield from [] if inner else [{"name": "test"}]


def _numbers(name: str, schema: JsonObject, *, whole: bool) -> Iterator[Json]:
    low = finite(schema.get("minimum", schema.get("exclusiveMinimum")))
    high = finite(schema.get("maximum", schema.get("exclusiveMaximum")))
    near = [edge + more for edge in (low, high) if edge is not None for more in (0, 1, -1)]
    step = finite(schema.get("multipleOf")) or 0
    usual = [guess for guess in named(name) if isinstance(guess, int | float) and not isinstance(guess, bool)]
    for value in [step, 10 * step, *near] if step else (*usual, 1, 2, 10, 0, 100, *near):
        number = math.floor(value) if whole else value
        if _fits({**schema, "type": "number"}, number):
            yield number


def _strings(name: str, schema: JsonObject) -> Iterator[str]:
    form, pattern = str(schema.get("format", "")), str(schema.get("pattern", ""))
    guesses = [text_of(guess) for guess in named(name)]
    shortest, longest = int(schema.get("minLength") or 0), finite(schema.get("maxLength"))
    if pattern:
        usual = [str(value) for values in (*FORMATS.values(), *VALUES.values()) for value in values]
        with suppress(ValueError):  # a pattern that is none
            judge = validator({"pattern": pattern})
            yield from filter(judge.is_valid, (*guesses, *usual, *_DATES, *_TEXTS))
    elif form in ("date", "date-time"):
        yield from (day if form == "date" else f"{day}T00:00:00Z" for day in _DATES)
    elif form in FORMATS:
        yield from FORMATS[form]
    else:
        for text in (*guesses, *_TEXTS):
            if len(text) < shortest <= 10_000:
                text *= shortest // max(1, len(text)) + 1
            yield text if longest is None else text[: int(longest)]


def _fits(schema: JsonObject, value: Json) -> bool:
    return conforms({key: schema[key] for key in (*_EDGES, "pattern", "multipleOf") if key in schema}, value)
