"""What does not conform to a schema, as shapes: some of it, and nothing that does conform."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from atc.decode.arguments.impossible import Impossible
from atc.decode.arguments.shape import TYPES, Objects, Raw, Shape, type_of
from atc.decode.arguments.spans import Span
from atc.decode.arguments.strings import Strings

if TYPE_CHECKING:
    from atc.decode.arguments.read import Reader

_NUMBERS = frozenset(("integer", "fraction"))


def negated(schema: Raw, reader: Reader) -> list[Shape]:
    """Shapes of what does not conform to `schema`.

    A value fails a schema by failing one of its keywords; keywords whose failing no shape can say are passed over.

    Raises:
        Impossible: nothing is left.
    """
    if schema is True:
        raise Impossible("everything conforms to the schema true")
    if schema is False:
        return [Shape()]
    if not isinstance(schema, Mapping):
        reader.refuse("a schema is an object, true or false.", schema)
    found = list(_failing(schema, reader))
    if not found:
        raise Impossible("what must not conform cannot be told from what may", clause=reader.place(schema), unsaid=True)
    return found


def _failing(schema: Mapping[str, Any], reader: Reader) -> Iterator[Shape]:
    own = reader.own(schema)
    if "type" in schema and own.types != TYPES:
        yield Shape(types=TYPES - reader.named(schema))
    if own.values is not None:
        listed = [schema["const"]] if "const" in schema else list(schema["enum"])
        yield from _none_of(listed)
    yield from _outside(own)
    yield from _other_objects(schema, own, reader)
    base = reader.place(schema)
    for i, part in enumerate(schema.get("allOf", ())):
        yield from _tried(reader.at(part, "allOf", i, base=base), reader)
    if "$ref" in schema:
        yield from _tried(reader.target(schema), reader)
    if "anyOf" in schema:
        yield from _failing_all(schema["anyOf"], reader)
    if "not" in schema:
        try:
            yield from reader.shapes((schema["not"],), implied=False)
        except Impossible:
            return


def _tried(schema: Raw, reader: Reader) -> list[Shape]:
    try:
        return negated(schema, reader)
    except Impossible:
        return []


def _failing_all(parts: list[Raw], reader: Reader) -> list[Shape]:
    found = [Shape()]
    for part in parts:
        left = []
        for shape in found:
            for other in _tried(part, reader):
                try:
                    left.append(shape.both(other))
                except Impossible:
                    continue
        found = left
    return found


def _none_of(values: list[Any]) -> Iterator[Shape]:
    """What is none of `values`: all of other types, and what is left of theirs."""
    types = {type_of(value) for value in values}
    if TYPES - types:
        yield Shape(types=TYPES - types)
    strings = frozenset(value for value in values if isinstance(value, str))
    if strings:
        yield Shape(types=frozenset({"string"}), strings=Strings(without=strings))
    left = tuple(b for b in (True, False) if not any(value is b for value in values))
    if "boolean" in types and left:
        yield Shape(types=frozenset({"boolean"}), values=left)
    numbers = sorted({Decimal(repr(value)) for value in values if type_of(value) in _NUMBERS})
    if numbers:
        kinds = frozenset(types & _NUMBERS)
        for low, high in zip([None, *numbers], [*numbers, None], strict=True):
            span = Span(low=low, high=high, low_open=low is not None, high_open=high is not None)
            yield Shape(types=kinds, span=span)


def _outside(own: Shape) -> Iterator[Shape]:
    """Numbers and strings that are too small or too large."""
    if own.span.low is not None:
        yield Shape(types=_NUMBERS, span=Span(high=own.span.low, high_open=not own.span.low_open))
    if own.span.high is not None:
        yield Shape(types=_NUMBERS, span=Span(low=own.span.high, low_open=not own.span.high_open))
    if own.strings.least:
        yield Shape(types=frozenset({"string"}), strings=Strings(most=own.strings.least - 1))
    if own.strings.most is not None:
        yield Shape(types=frozenset({"string"}), strings=Strings(least=own.strings.most + 1))


def _other_objects(schema: Mapping[str, Any], own: Shape, reader: Reader) -> Iterator[Shape]:
    """Objects that lack a key, or whose value for one does not conform."""
    kind = frozenset({"object"})
    for name in own.objects.required:
        yield Shape(types=kind, objects=Objects(properties={name: (False,)}))
    for name, part in schema.get("properties", {}).items():
        if part is True:
            continue
        inverse = reader.inverse(part) if part is not False else True
        yield Shape(types=kind, objects=Objects(properties={name: (inverse,)}, required=frozenset({name})))
