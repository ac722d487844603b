"""Whether a value may be sent as an argument: no schema, no reply and no earlier refusal excludes it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from probing.argument_clauses import TEXT_PLACES
from probing.facts import ArgumentFacts, ToolFacts
from probing.generate.limits import finite
from probing.hint import Hint
from probing.sample import Value
from probing.shape import text_of
from protocols.jsontypes import Json
from protocols.schema import resolve, type_name, types, validator


class Fits:
    """What is known to be excluded for one argument, ready to be asked about many values."""

    def __init__(self, tool: ToolFacts, argument: ArgumentFacts) -> None:
        self._argument = argument
        self._as_text = argument.place in TEXT_PLACES
        root = tool.protocol.input_schema
        self._wanted = types(resolve(argument.declared, root)) or _told_types(argument.hints)
        self._declared = _validators([_rooted(argument, root)])
        self._told = _validators(_clauses(argument.hints))
        self._told_of_text = _validators(_clauses_of_text(argument.hints))
        self._unknown = not argument.accepted and any(hint.kind == "unknown" for hint in argument.hints)
        listed = [value for hint in argument.hints if hint.kind == "enum" for value in hint.values]
        self._listed = {_text(value) for value in listed}
        self._gone = {self.key(held.value) for held in argument.refused}
        self._gone |= {self.key(held.value) for held in argument.not_found if _to_blame(tool, argument.name, held)}

    def key(self, value: Json) -> str:
        """The same for values that are the same when they are sent."""
        return _text(value) if self._as_text else repr(value)

    def adapted(self, value: Value) -> Value | None:
        """The value as the argument can take it (`5` for `"5"`, `["x"]` for `"x"`), or `None` where it is excluded.

        Tried are the value as it is, its number or its text, and a list of it.
        """
        for form in self._forms(value.value):
            if self.allows(form):
                return value if form is value.value else Value(form, value.origin)
        return None

    def allows(self, value: Json) -> bool:
        """Whether nothing that is known excludes a value."""
        if (
            not _sendable(value)
            or self._unknown
            or self.key(value) in self._gone
            or (self._listed and not self._is_listed(value))
        ):
            return False
        if self._argument.place == "path" and value in ("", ".", ".."):
            return False
        sent = _text(value) if self._as_text else value
        return all(clause.is_valid(value) for clause in (*self._declared, *self._told)) and all(
            clause.is_valid(sent) for clause in self._told_of_text
        )

    def _is_listed(self, value: Json) -> bool:
        parts = value if isinstance(value, list) and "array" in self._wanted else [value]
        return all(_text(part) in self._listed for part in parts)

    def _forms(self, value: Json) -> list[Json]:
        forms = [value]
        if isinstance(value, str) and {"integer", "number"} & set(self._wanted):
            forms += [number for number in (_number(value),) if number is not None]
        if "string" in self._wanted and isinstance(value, int | float) and not isinstance(value, bool):
            forms.append(text_of(value))
        if "array" in self._wanted and not isinstance(value, list):
            forms += [[form] for form in forms]
        return forms


def _text(value: Json) -> str:
    return text_of(value) if isinstance(value, str | int | float) else repr(value)


def _to_blame(tool: ToolFacts, name: str, held: Value) -> bool:
    """Whether a value leads nowhere by itself: alone, or beside others that are good elsewhere.

    Beside others that may be to blame, nobody knows: a player who never played for one team did for another.
    """
    good = {(other, repr(value.value)) for known in tool.arguments.values() for other, value in _accepted(known)}
    where = [s for s in tool.samples if not s.done and name in s.arguments and s.arguments[name].value == held.value]
    beside = [[(n, repr(v.value)) for n, v in sample.arguments.items() if n != name] for sample in where]
    return not where or any(all(one in good for one in others) for others in beside)


def _accepted(argument: ArgumentFacts) -> list[tuple[str, Value]]:
    return [(argument.name, value) for value in argument.accepted]


def _sendable(value: Json) -> bool:
    """Whether a value can be written as JSON in UTF-8: not half a character, not infinity."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def _told_types(hints: Sequence[Hint]) -> tuple[str, ...]:
    """The types that replies named; where they named none but a range, it is a number."""
    named = tuple(kind for hint in hints if hint.kind == "type" for kind in hint.types)
    return named or (("number", "integer") if any(hint.kind == "range" for hint in hints) else ())


def _clauses(hints: Sequence[Hint]) -> list[dict[str, Any]]:
    """Hints about type and range as schemas. Of two ranges the later counts: the earlier was about another case."""
    kinds = _told_types(hints)
    found = [{"type": sorted({*kinds, *(("integer",) if "number" in kinds else ())})}] if kinds else []
    ranges = [hint for hint in hints if hint.kind == "range"]
    return [*found, *map(_range, ranges[-1:])]


def _clauses_of_text(hints: Sequence[Hint]) -> list[dict[str, Any]]:
    """Hints about length, pattern and format as schemas; what has a pattern or a format is a text."""
    lengths = [hint for hint in hints if hint.kind == "length"][-1:]
    found = [{**_edges(hint, "minLength", "maxLength"), **_edges(hint, "minItems", "maxItems")} for hint in lengths]
    found += [{"type": "string", "pattern": hint.pattern} for hint in hints if hint.kind == "pattern" and hint.pattern]
    formats = [hint.format for hint in hints if hint.kind == "format" and hint.format]
    return [*found, *({"type": "string", "format": name} for name in formats[-1:])]


def _range(hint: Hint) -> dict[str, Any]:
    low = "exclusiveMinimum" if hint.exclusive_minimum else "minimum"
    high = "exclusiveMaximum" if hint.exclusive_maximum else "maximum"
    return _edges(hint, low, high)


def _edges(hint: Hint, low: str, high: str) -> dict[str, Any]:
    edges = {low: finite(hint.minimum), high: finite(hint.maximum)}
    counted = low in ("minLength", "minItems")
    return {key: max(0, int(edge)) if counted else edge for key, edge in edges.items() if edge is not None}


def _rooted(argument: ArgumentFacts, root: Mapping[str, Any]) -> dict[str, Any]:
    """The declared schema with what its references point into beside it."""
    beside = {key: root[key] for key in ("$defs", "definitions", "properties") if key in root}
    return {**beside, "allOf": [dict(argument.declared)]} if argument.declared else {}


def _validators(schemas: Iterable[dict[str, Any]]) -> list[Any]:
    made = []
    for schema in schemas:
        try:
            made.append(validator(schema))
        except (ValueError, RecursionError):  # a schema or a pattern that is none excludes nothing
            continue
    return made


def _number(text: str) -> Json:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return None
    return number if type_name(number) == "number" and abs(number) < float("inf") else None
