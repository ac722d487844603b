"""What an argument's value must be: what is declared and what replies told, in one record."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from probing.facts import ArgumentFacts
from protocols.jsontypes import Json, JsonObject
from protocols.schema import resolve, types


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Types, listed values, range, length, pattern and format; empty or `None` where nothing is known."""

    types: tuple[str, ...] = ()
    enum: tuple[Json, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    above: bool = False
    """Whether `minimum` itself is excluded."""
    below: bool = False
    shortest: float | None = None
    longest: float | None = None
    pattern: str = ""
    format: str = ""
    schema: JsonObject = field(default_factory=dict)
    root: JsonObject = field(default_factory=dict)

    @classmethod
    def of(cls, schema: JsonObject, root: JsonObject) -> Limits:
        """The limits in a JSON Schema; of alternatives the first that is not `null` counts."""
        for keyword in ("anyOf", "oneOf", "allOf"):
            for part in schema.get(keyword, ()):
                inner = resolve(part, root)
                if inner and types(inner) != ("null",):
                    schema = {**inner, **{k: v for k, v in schema.items() if k != keyword}}
                    break
        low, above = _bound(schema, "minimum", "exclusiveMinimum", max)
        high, below = _bound(schema, "maximum", "exclusiveMaximum", min)
        listed = schema["enum"] if isinstance(schema.get("enum"), list) else []
        return cls(
            types=tuple(kind for kind in types(schema) if kind != "null" or types(schema) == ("null",)),
            enum=(*listed, *([schema["const"]] if "const" in schema else [])),
            minimum=low,
            maximum=high,
            above=above,
            below=below,
            shortest=finite(schema.get("minLength")),
            longest=finite(schema.get("maxLength")),
            pattern=str(schema.get("pattern") or ""),
            format=str(schema.get("format") or ""),
            schema=schema,
            root=root,
        )

    def allows(self, number: float) -> bool:
        """Whether a number lies in the range."""
        if self.minimum is not None and (number < self.minimum or (self.above and number == self.minimum)):
            return False
        return self.maximum is None or not (number > self.maximum or (self.below and number == self.maximum))

    def lowest(self, *, whole: bool) -> float | None:
        """The least number allowed, or near it where it is excluded."""
        if self.minimum is None:
            return None
        least = math.ceil(self.minimum) if whole else self.minimum
        return least + (1 if whole else 0.5) if self.above and least == self.minimum else least

    def highest(self, *, whole: bool) -> float | None:
        """The greatest number allowed, or near it where it is excluded."""
        if self.maximum is None:
            return None
        most = math.floor(self.maximum) if whole else self.maximum
        return most - (1 if whole else 0.5) if self.below and most == self.maximum else most


def limits_of(argument: ArgumentFacts, root: JsonObject | None = None) -> Limits:
    """The limits that are declared for an argument, made narrower by those that replies told.

    `root` is the schema that the declared one's references point into.
    """
    told = Limits.of(resolve(argument.declared, root or {}), root or {})
    known: dict[str, Any] = {}
    for hint in argument.hints:
        match hint.kind:
            case "type" if not told.types:
                known["types"] = tuple(dict.fromkeys((*known.get("types", ()), *hint.types)))
            case "enum" if not told.enum:
                known["enum"] = (*known.get("enum", ()), *(v for v in hint.values if v not in known.get("enum", ())))
            case "range":
                if (low := finite(hint.minimum)) is not None:
                    known |= {"minimum": low, "above": hint.exclusive_minimum}
                if (high := finite(hint.maximum)) is not None:
                    known |= {"maximum": high, "below": hint.exclusive_maximum}
            case "length":
                edges = {"shortest": finite(hint.minimum), "longest": finite(hint.maximum)}
                known |= {name: edge for name, edge in edges.items() if edge is not None}
            case "pattern" if not told.pattern:
                known["pattern"] = hint.pattern
            case "format" if not told.format:
                known["format"] = hint.format
            case _:
                pass
    return Limits(**{**told.__dict__, **known})


def _bound(schema: JsonObject, inclusive: str, exclusive: str, pick: Any) -> tuple[float | None, bool]:
    edge, strict = finite(schema.get(inclusive)), schema.get(exclusive)
    if strict is True:  # as JSON Schema had it before 2019
        return edge, edge is not None
    outside = finite(strict)
    if outside is None:
        return edge, False
    return (outside, True) if edge is None or pick(edge, outside) == outside else (edge, False)


def finite(value: Json) -> float | None:
    """The value if it is a number that can be written down; `None` for others, infinity among them."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None
