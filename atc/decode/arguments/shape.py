"""What is left of a schema once its references and combinations are resolved: the constraints of one alternative."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from atc.decode.arguments.impossible import Impossible
from atc.decode.arguments.spans import Span
from atc.decode.arguments.strings import Strings
from atc.regex import found, literal, sought
from protocols.jsontypes import Json
from protocols.schema import type_name

ANY_STRING, ANY_NUMBER = Strings(), Span()

Raw = Any
"""A schema as the document holds it: an object, or `True` or `False`."""
Conjunction = tuple[Raw, ...]
"""Schemas that a value conforms to all at once."""

TYPES = frozenset(("null", "boolean", "integer", "fraction", "string", "array", "object"))
"""JSON's types, a number being an integer or a fraction, which is no integer."""


@dataclass(frozen=True, kw_only=True)
class Arrays:
    """Arrays: `prefix` for the first items, `rest` for the others, which are `least` to `most` in all.

    One item, wherever it stands, conforms to each of `holds` too.
    """

    prefix: tuple[Conjunction, ...] = ()
    rest: Conjunction = ()
    least: int = 0
    most: int | None = None
    unique: bool = False
    holds: tuple[Raw, ...] = ()

    def item(self, index: int) -> Conjunction:
        """What the item at this place conforms to."""
        return self.prefix[index] if index < len(self.prefix) else self.rest

    def both(self, other: Arrays) -> Arrays:
        """The arrays of both."""
        if self is ANY_ARRAY or other is ANY_ARRAY:
            return other if self is ANY_ARRAY else self
        width = max(len(self.prefix), len(other.prefix))
        return Arrays(
            prefix=tuple(joined(self.item(i), other.item(i)) for i in range(width)),
            rest=joined(self.rest, other.rest),
            least=max(self.least, other.least),
            most=least_of(self.most, other.most),
            unique=self.unique or other.unique,
            holds=(*self.holds, *other.holds),
        )


@dataclass(frozen=True, kw_only=True)
class Objects:
    """Objects: `properties` by name, and `extra` for further keys.

    `extra` is `None` where nobody said whether there may be any. `patterns` are those of `patternProperties`; `names`
    what keys conform to; `sealed` forbids keys that nobody named (`unevaluatedProperties`).
    """

    properties: Mapping[str, Conjunction] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    extra: Conjunction | None = None
    patterns: tuple[tuple[str, Raw], ...] = ()
    names: Conjunction = ()
    least: int = 0
    most: int | None = None
    sealed: bool = False

    def of(self, name: str) -> Conjunction:
        """What the value of this key conforms to; `(False,)` where there must be no such key."""
        if name in self.properties:
            return self.properties[name]
        matching = tuple(schema for pattern, schema in self.patterns if matches(pattern, name))
        return matching or self.extra or ()

    def both(self, other: Objects) -> Objects:
        """The objects of both."""
        if self is ANY_OBJECT or other is ANY_OBJECT:
            return other if self is ANY_OBJECT else self
        names = dict.fromkeys((*self.properties, *other.properties))
        extra, patterns = self._further(other)
        return Objects(
            properties={name: joined(self.of(name), other.of(name)) for name in names},
            required=self.required | other.required,
            extra=extra,
            patterns=patterns,
            names=joined(self.names, other.names),
            least=max(self.least, other.least),
            most=least_of(self.most, other.most),
            sealed=self.sealed or other.sealed,
        )

    def _further(self, other: Objects) -> tuple[Conjunction | None, tuple[tuple[str, Raw], ...]]:
        """What both say of keys that neither names, and the patterns of such keys."""
        for one, two in ((self, other), (other, self)):
            if two.extra is None and not two.patterns:
                return one.extra, one.patterns
        if self.patterns or other.patterns:
            return (False,), ()  # fewer keys than there might be, none of them wrong
        return joined(*(extra for extra in (self.extra, other.extra) if extra is not None)), ()


ANY_ARRAY, ANY_OBJECT = Arrays(), Objects()


@dataclass(frozen=True, kw_only=True)
class Shape:
    """One alternative of a schema: values of these types, each type within its constraints.

    `values`, where given, are all that there are. `spans` of numbers hold one another's ends; `steps` divide them.
    """

    types: frozenset[str] = TYPES
    values: tuple[Json, ...] | None = None
    strings: Strings = field(default=ANY_STRING)
    span: Span = field(default=ANY_NUMBER)
    steps: tuple[Decimal, ...] = ()
    arrays: Arrays = field(default=ANY_ARRAY)
    objects: Objects = field(default=ANY_OBJECT)

    def both(self, other: Shape) -> Shape:
        """What conforms to both.

        Raises:
            Impossible: they have no type, or no value, in common.
        """
        types = self.types & other.types
        if not types:
            raise Impossible(f"nothing is both {words(self.types)} and {words(other.types)}")
        values = self.values if other.values is None else other.values
        if self.values is not None and other.values is not None:
            values = tuple(one for one in self.values if any(same(one, two) for two in other.values))
            if not values:
                raise Impossible("no value is listed by both")
        return Shape(
            types=types,
            values=values,
            strings=self.strings.both(other.strings),
            span=self.span.within(other.span),
            steps=tuple(dict.fromkeys((*self.steps, *other.steps))),
            arrays=self.arrays.both(other.arrays),
            objects=self.objects.both(other.objects),
        )


def joined(*conjunctions: Conjunction) -> Conjunction:
    """All of these schemas, each once and `True` left out; `(False,)` where one is `False`."""
    kept: dict[int, Raw] = {}
    for schema in (schema for conjunction in conjunctions for schema in conjunction):
        if schema is False:
            return (False,)
        if schema is not True:
            kept[id(schema)] = schema
    return tuple(kept.values())


def meant(schemas: Conjunction) -> bool:
    """Whether one schema alone says what a value is, so that there should be one; not what it must not be."""
    return len(schemas) == 1 and isinstance(schemas[0], Mapping) and "not" not in schemas[0]


def least_of(one: int | None, two: int | None) -> int | None:
    """The lesser of two ends, either of which may be open."""
    return two if one is None else one if two is None else min(one, two)


def same(one: Json, two: Json) -> bool:
    """Whether two values are the same to JSON Schema: 1 is 1.0, and `true` is no number."""
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    return bool(one == two)


def type_of(value: Json) -> str:
    """The type of a value, among `TYPES`."""
    name = type_name(value)
    if name != "number":
        return name
    return "integer" if float(value).is_integer() else "fraction"


def matches(pattern: str, text: str) -> bool:
    """Whether a search for `pattern` finds something in `text`."""
    return found([sought(pattern), literal(text)]) is not None


def words(types: frozenset[str]) -> str:
    """Types as a schema names them."""
    named = {"number" if {"integer", "fraction"} <= types and t in ("integer", "fraction") else t for t in types}
    return " or ".join(sorted("number" if t == "fraction" else t for t in named))
