"""What hints and accepted values say of one argument, as clauses of JSON Schema that every accepted value meets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from probing.dialects.bounds import read_multiple
from probing.facts import ArgumentFacts
from probing.hint import Hint, HintKind
from probing.shape import format_of, text_of
from protocols.jsontypes import Json
from protocols.schema import type_name, validator

TEXT_PLACES = frozenset({"path", "query", "header", "cookie", "form"})
"""Where every value travels as text: `5` and `"5"` are the same there."""

_ORDER = ("integer", "number", "boolean", "string", "array", "object", "null")
_NUMBER = re.compile(r"-?\d{1,18}(\.\d{1,18})?")
_SEVERAL = 3
_WHOLE = re.compile(r"-?\d{1,18}")


def clauses_of(argument: ArgumentFacts) -> dict[str, Any]:
    """Keywords and values. Of hints that differ the last counts; one that an accepted value breaks is left out."""
    accepted = [held.value for held in argument.accepted]
    as_text = argument.place in TEXT_PLACES
    clauses: dict[str, Any] = {}
    types = _types(argument, accepted, as_text=as_text)
    if types:
        clauses["type"] = types[0] if len(types) == 1 else types
    if listed := _enum(argument, accepted, as_text=as_text):
        values, of_items = listed
        kinds = type_list(type_name(value) for value in values)
        if of_items:
            clauses |= {"type": "array", "items": {"enum": values}}
        else:
            clauses["enum"] = values
            clauses["type"] = kinds[0] if len(kinds) == 1 else kinds
        return clauses
    clauses |= _range(argument, accepted) | _multiple(argument, accepted)
    if (
        clauses.keys() & {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
        and "type" not in clauses
    ):
        seen = type_list(["number", *(type_name(value) for value in accepted)])
        clauses["type"] = seen[0] if len(seen) == 1 else seen
    arrays = "array" in types or any(isinstance(value, list) for value in accepted)
    clauses |= _length(argument, accepted, arrays=arrays)
    texts = [text_of(value) for value in accepted if isinstance(value, str | int | float)]
    whole = len(texts) == len(accepted)
    for kind, keyword in (("pattern", "pattern"), ("format", "format")):
        for hint in reversed(_of(argument, kind)):  # type: ignore[arg-type]  # a Literal by construction
            word = hint.pattern if kind == "pattern" else hint.format
            if word and whole and _all_valid({keyword: word}, texts):
                clauses[keyword] = word
                clauses.setdefault("type", "string" if all(isinstance(v, str) for v in accepted) else _seen(accepted))
                break
    if "format" not in clauses and (form := _common_format(argument)):
        clauses["format"] = form
    return clauses


def _common_format(argument: ArgumentFacts) -> str:
    """The format of all accepted values, where they are several and most were not made up for trying."""
    texts = [held.value for held in argument.accepted if isinstance(held.value, str)]
    found = [held for held in argument.accepted if held.origin.kind not in ("generated", "model")]
    formats = {format_of(text) for text in texts}
    if len(texts) < len(argument.accepted) or len(found) < _SEVERAL or len(formats) != 1:
        return ""
    form = next(iter(formats))
    return form if form and _all_valid({"format": form}, texts) else ""


def type_list(kinds: Iterable[str]) -> list[str]:
    """Types without repetition, in a fixed order; an integer is a number."""
    found = set(kinds)
    return [kind for kind in _ORDER if kind in found and not (kind == "integer" and "number" in found)]


def _of(argument: ArgumentFacts, kind: HintKind) -> list[Hint]:
    return [hint for hint in argument.hints if hint.kind == kind]


def _seen(values: Sequence[Json]) -> str | list[str]:
    kinds = type_list(type_name(value) for value in values)
    return kinds[0] if len(kinds) == 1 else kinds


def _types(argument: ArgumentFacts, accepted: Sequence[Json], *, as_text: bool) -> list[str]:
    told = next((list(hint.types) for hint in reversed(_of(argument, "type")) if _fits(hint, accepted, as_text)), [])
    seen = type_list(type_name(value) for value in accepted)
    if told:
        odd = [kind for value in accepted if not _is_of(value, told) for kind in (type_name(value),)]
        return type_list([*told, *odd])
    if not as_text:
        return seen
    if seen == ["integer"] and any(not _WHOLE.fullmatch(text_of(held.value)) for held in argument.refused):
        return seen
    # A number sent as text may be any text; a word in letters was none.
    return seen if seen == ["string"] and not any(_NUMBER.fullmatch(value) for value in accepted) else []


def _fits(hint: Hint, accepted: Sequence[Json], as_text: bool) -> bool:
    return all(_is_of(value, hint.types) or (as_text and _reads_as(value, hint.types)) for value in accepted)


def _is_of(value: Json, kinds: Sequence[str]) -> bool:
    kind = type_name(value)
    return (
        kind in kinds
        or (kind == "integer" and "number" in kinds)
        or (kind == "number" and "integer" in kinds and float(value).is_integer())
    )


def _reads_as(value: Json, kinds: Sequence[str]) -> bool:
    """Whether a value, written as text, is of one of these types."""
    if not isinstance(value, str | int | float):
        return False
    text = text_of(value)
    return (
        "string" in kinds
        or ("integer" in kinds and _WHOLE.fullmatch(text) is not None)
        or ("number" in kinds and _NUMBER.fullmatch(text) is not None)
        or ("boolean" in kinds and text.lower() in ("true", "false", "1", "0", "yes", "no", "on", "off"))
    )


def _enum(argument: ArgumentFacts, accepted: Sequence[Json], *, as_text: bool) -> tuple[list[Json], bool] | None:
    """The values that replies list, all lists together, and whether they are those of an array's items.

    A value is listed as it was accepted: `5` where `"5"` was told and both are the same in a URL.
    """
    told: list[Json] = []
    for hint in _of(argument, "enum"):
        told += [value for value in hint.values if not _in(value, told)]
    if not told:
        return None
    lists = [value for value in accepted if isinstance(value, list)]
    parts = [part for value in lists for part in value] + [value for value in accepted if not isinstance(value, list)]
    same = _same_text if as_text else _equal
    if any(isinstance(part, dict | list) or not any(same(part, value) for value in told) for part in parts):
        return None
    if lists and len(lists) < len(accepted):
        return None
    kept = [value for value in told if not any(same(value, part) for part in parts)]
    order = {repr(value): index for index, value in enumerate(told)}
    values = [*kept]
    for part in parts:
        if not _in(part, values):
            values.append(part)
    values.sort(key=lambda value: order.get(repr(value), next((order[repr(t)] for t in told if same(t, value)), 0)))
    return values, bool(lists)


def _equal(one: Json, other: Json) -> bool:
    return type_name(one) == type_name(other) and bool(one == other)


def _same_text(one: Json, other: Json) -> bool:
    return text_of(one) == text_of(other)


def _in(value: Json, values: Sequence[Json]) -> bool:
    return any(_equal(value, other) for other in values)


def _range(argument: ArgumentFacts, accepted: Sequence[Json]) -> dict[str, Any]:
    """The least and the greatest value told last, each where all accepted numbers keep to it."""
    numbers = [_number(value) for value in accepted if not isinstance(value, bool)]
    if any(isinstance(value, list | dict) for value in accepted):
        return {}
    known = [number for number in numbers if number is not None]
    found: dict[str, Any] = {}
    if len(known) < len(accepted):
        return found
    for hint in _of(argument, "range"):
        sides = (
            ("minimum", hint.minimum, hint.exclusive_minimum, -1),
            ("maximum", hint.maximum, hint.exclusive_maximum, 1),
        )
        for side, bound, strict, sign in sides:
            if bound is None or any(sign * (number - bound) > 0 or (strict and number == bound) for number in known):
                continue
            capital = side.capitalize()
            found.pop(f"exclusive{capital}" if not strict else side, None)
            found[f"exclusive{capital}" if strict else side] = bound
    return found


def _multiple(argument: ArgumentFacts, accepted: Sequence[Json]) -> dict[str, Any]:
    """`multipleOf` where a reply says so: its examples are then multiples, and its words name the number."""
    told = [number for hint in _of(argument, "example") if (number := read_multiple(hint.text))]
    clause = {"multipleOf": told[-1]} if told else {}
    return clause if clause and all(validator(clause).is_valid(_number(value)) for value in accepted) else {}


def _number(value: Json) -> float | None:
    if isinstance(value, str):
        return float(value) if _NUMBER.fullmatch(value) else None
    return value if isinstance(value, int | float) else None


def _length(argument: ArgumentFacts, accepted: Sequence[Json], *, arrays: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    words = ("minItems", "maxItems") if arrays else ("minLength", "maxLength")
    sizes = [len(value) if isinstance(value, list) else len(text_of(value)) for value in accepted if _sized(value)]
    if len(sizes) < len(accepted):
        return found
    for hint in _of(argument, "length"):
        low, high = hint.minimum, hint.maximum
        if low is not None and 0 <= low <= min(sizes, default=low):
            found[words[0]] = int(low)
        if high is not None and high >= max(sizes, default=0):
            found[words[1]] = int(high)
    return found


def _sized(value: Json) -> bool:
    return isinstance(value, list | str | int | float)


def _all_valid(schema: dict[str, Any], texts: Sequence[str]) -> bool:
    try:
        checks = validator(schema)
    except ValueError:
        return False
    return all(checks.is_valid(text) for text in texts)
