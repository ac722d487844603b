"""What stands in a schema itself, keyword by keyword, as a shape."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from atc.decode.arguments.impossible import Impossible
from atc.decode.arguments.shape import (
    ANY_ARRAY,
    ANY_NUMBER,
    ANY_OBJECT,
    ANY_STRING,
    TYPES,
    Arrays,
    Conjunction,
    Objects,
    Raw,
    Shape,
    joined,
    matches,
    same,
    type_of,
)
from atc.decode.arguments.spans import Span, beyond
from atc.decode.arguments.strings import Strings
from atc.regex import PatternError, sought
from protocols.jsontypes import Json

if TYPE_CHECKING:
    from atc.decode.arguments.read import Reader

_NAMES = {
    "null": frozenset({"null"}),
    "boolean": frozenset({"boolean"}),
    "integer": frozenset({"integer"}),
    "number": frozenset({"integer", "fraction"}),
    "string": frozenset({"string"}),
    "array": frozenset({"array"}),
    "object": frozenset({"object"}),
}
_IMPLIED = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"),
    "object": (
        *("properties", "required", "additionalProperties", "patternProperties", "propertyNames"),
        *("minProperties", "maxProperties", "dependentRequired", "dependentSchemas"),
    ),
}
_KEYWORDS = {name: frozenset(words) for name, words in _IMPLIED.items()} | {
    "array": frozenset((*_IMPLIED["array"], "unevaluatedItems")),
    "object": frozenset((*_IMPLIED["object"], "unevaluatedProperties")),
}


def own(reader: Reader, schema: Mapping[str, Any], *, implied: bool) -> Shape:
    """The constraints that stand in `schema` itself."""
    allowed = types(reader, schema, implied=implied)
    values: tuple[Json, ...] | None = None
    if "enum" in schema:
        if not isinstance(schema["enum"], list | tuple) or not schema["enum"]:
            raise Impossible("the enum is empty", clause=reader.place(schema) + "/enum")
        values = tuple(schema["enum"])
    if "const" in schema:
        if values is not None and not any(same(schema["const"], value) for value in values):
            raise Impossible("the const is not in the enum", clause=reader.place(schema) + "/const")
        values = (schema["const"],)
    if values is not None:
        kept = tuple(value for value in values if type_of(value) in allowed)
        if not kept:
            clause = "const" if "const" in schema else "enum"
            raise Impossible("no listed value is of the type", clause=f"{reader.place(schema)}/{clause}")
        values = kept
    spoken = {name for name, words in _KEYWORDS.items() if not schema.keys().isdisjoint(words)}
    return Shape(
        types=allowed,
        values=values,
        strings=_strings(reader, schema) if "string" in spoken else ANY_STRING,
        span=_span(reader, schema) if "number" in spoken else ANY_NUMBER,
        steps=_steps(reader, schema) if "number" in spoken else (),
        arrays=_arrays(reader, schema) if "array" in spoken else ANY_ARRAY,
        objects=_objects(reader, schema) if "object" in spoken else ANY_OBJECT,
    )


def types(reader: Reader, schema: Mapping[str, Any], *, implied: bool) -> frozenset[str]:
    """The types that a schema names, or, where `implied`, that its keywords speak of."""
    declared = schema.get("type")
    if isinstance(declared, str) and declared in _NAMES:
        return _NAMES[declared]
    if declared is None:
        if not implied or "enum" in schema or "const" in schema:
            return TYPES
        meant = [name for name, words in _IMPLIED.items() if any(word in schema for word in words)]
        return frozenset(t for name in meant for t in _NAMES[name]) or TYPES
    names = [declared] if isinstance(declared, str) else declared
    if not isinstance(names, list | tuple) or not names or not all(isinstance(n, str) and n in _NAMES for n in names):
        reader.refuse(f"{declared!r} is no type of JSON.", schema, "type")
    return frozenset(t for name in names for t in _NAMES[name])


def _count(reader: Reader, schema: Mapping[str, Any], word: str) -> int | None:
    count = schema.get(word)
    if count is None:
        return None
    if isinstance(count, bool) or not isinstance(count, int | float) or count < 0 or count != int(count):
        reader.refuse(f"{word!r} is a number of things, not {count!r}.", schema, word)
    return int(count)


def _strings(reader: Reader, schema: Mapping[str, Any]) -> Strings:
    for word in ("pattern", "format"):
        if word in schema and not isinstance(schema[word], str):
            reader.refuse(f"{word!r} is a text, not {schema[word]!r}.", schema, word)
    if "pattern" in schema:
        _readable(reader, schema, schema["pattern"], "pattern")
    return Strings(
        least=_count(reader, schema, "minLength") or 0,
        most=_count(reader, schema, "maxLength"),
        patterns=(schema["pattern"],) if "pattern" in schema else (),
        formats=(schema["format"],) if "format" in schema else (),
    )


def _readable(reader: Reader, schema: Mapping[str, Any], pattern: str, *path: str) -> None:
    try:
        sought(pattern)
    except PatternError as error:
        reader.refuse(f"the pattern {pattern!r} cannot be held to: {error}.", schema, *path)


def _number(reader: Reader, schema: Mapping[str, Any], word: str) -> Decimal | None:
    number = schema.get(word)
    if number is None:
        return None
    if isinstance(number, bool) or not isinstance(number, int | float) or number != number or abs(number) > 1e300:
        reader.refuse(f"{word!r} is a number, not {number!r}.", schema, word)
    return Decimal(repr(number))


def _span(reader: Reader, schema: Mapping[str, Any]) -> Span:
    span = Span(low=_number(reader, schema, "minimum"), high=_number(reader, schema, "maximum"))
    if (low := _number(reader, schema, "exclusiveMinimum")) is not None:
        low, is_open = beyond(low, up=True)
        span = span.within(Span(low=low, low_open=is_open))
    if (high := _number(reader, schema, "exclusiveMaximum")) is not None:
        high, is_open = beyond(high, up=False)
        span = span.within(Span(high=high, high_open=is_open))
    return span


def _steps(reader: Reader, schema: Mapping[str, Any]) -> tuple[Decimal, ...]:
    step = _number(reader, schema, "multipleOf")
    if step is None:
        return ()
    if step <= 0:
        reader.refuse("'multipleOf' is a number above zero.", schema, "multipleOf")
    return (step,)


def _arrays(reader: Reader, schema: Mapping[str, Any]) -> Arrays:
    base = reader.place(schema)
    prefix: list[Conjunction] = [
        (reader.at(p, "prefixItems", i, base=base),) for i, p in enumerate(_prefix(reader, schema))
    ]
    rest = reader.at(schema.get("items", True), "items", base=base)
    least = _count(reader, schema, "minItems") or 0
    holds: tuple[Raw, ...] = ()
    if "contains" in schema and (count := _count(reader, schema, "minContains")) != 0:
        wanted = reader.at(schema["contains"], "contains", base=base)
        if count in (None, 1):
            holds = (wanted,)
        else:
            # The first items are those that it asks for: fewer arrays, none of them wrong.
            prefix += [(rest,)] * (count - len(prefix))
            prefix = [(*item, wanted) if i < count else item for i, item in enumerate(prefix)]
        least = max(least, count or 1)
    if not isinstance(schema.get("uniqueItems", False), bool):
        reader.refuse("'uniqueItems' is true or false.", schema, "uniqueItems")
    closed = schema.get("unevaluatedItems") is False and "items" not in schema
    return Arrays(
        prefix=tuple(joined(item) for item in prefix),
        rest=(False,) if closed else joined((rest,)),
        least=least,
        most=_count(reader, schema, "maxItems"),
        unique=bool(schema.get("uniqueItems", False)),
        holds=holds,
    )


def _prefix(reader: Reader, schema: Mapping[str, Any]) -> list[Raw]:
    if isinstance(schema.get("items"), list | tuple):
        reader.refuse("a list of 'items' is 'prefixItems' since 2020-12.", schema, "items")
    return reader.parts(schema, "prefixItems") if "prefixItems" in schema else []


def _objects(reader: Reader, schema: Mapping[str, Any]) -> Objects:
    base = reader.place(schema)
    for pattern in reader.mapping(schema, "patternProperties"):
        _readable(reader, schema, pattern, "patternProperties", pattern)
    patterns = [
        (pattern, reader.at(part, "patternProperties", pattern, base=base))
        for pattern, part in reader.mapping(schema, "patternProperties").items()
    ]
    properties = {
        name: joined(
            (reader.at(part, "properties", name, base=base),),
            tuple(other for pattern, other in patterns if matches(pattern, name)),
        )
        for name, part in reader.mapping(schema, "properties").items()
    }
    required = schema.get("required", ())
    if not isinstance(required, list | tuple) or not all(isinstance(name, str) for name in required):
        reader.refuse("'required' is a list of names.", schema, "required")
    extra = None
    if "additionalProperties" in schema:
        extra = joined((reader.at(schema["additionalProperties"], "additionalProperties", base=base),))
    names = ()
    if "propertyNames" in schema:
        names = joined((reader.at(schema["propertyNames"], "propertyNames", base=base),))
    return Objects(
        properties=properties,
        required=frozenset(required),
        extra=extra,
        patterns=tuple(patterns),
        names=names,
        least=_count(reader, schema, "minProperties") or 0,
        most=_count(reader, schema, "maxProperties"),
        sealed=schema.get("unevaluatedProperties") is False,
    )
