"""Whether one value is of a shape: for values that a schema lists."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from atc.decode.arguments.impossible import Impossible
from atc.decode.arguments.shape import Conjunction, Shape, matches, same, type_of
from atc.decode.arguments.strings import Strings
from protocols.jsontypes import Json
from protocols.schema import violations

if TYPE_CHECKING:
    from atc.decode.arguments.read import Reader


def admits(shape: Shape, value: Json, reader: Reader) -> bool:
    """Whether `value` conforms to `shape`."""
    name = type_of(value)
    if name not in shape.types or (shape.values is not None and not any(same(value, one) for one in shape.values)):
        return False
    match name:
        case "string":
            return _is_string(shape.strings, value)
        case "integer" | "fraction":
            number = Decimal(repr(value))
            return number in shape.span and all(number % step == 0 for step in shape.steps)
        case "array":
            return _is_array(shape, value, reader)
        case "object":
            return _is_object(shape, value, reader)
    return True


def _is_string(strings: Strings, value: str) -> bool:
    if len(value) < strings.least or (strings.most is not None and len(value) > strings.most):
        return False
    if value in strings.without or not all(matches(pattern, value) for pattern in strings.patterns):
        return False
    return not any(violations({"format": name}, value) for name in strings.formats)


def _is_array(shape: Shape, value: list[Json], reader: Reader) -> bool:
    arrays = shape.arrays
    if len(value) < arrays.least or (arrays.most is not None and len(value) > arrays.most):
        return False
    if arrays.unique and any(same(one, two) for i, one in enumerate(value) for two in value[:i]):
        return False
    if not all(any(_conforms((wanted,), item, reader) for item in value) for wanted in arrays.holds):
        return False
    return all(_conforms(arrays.item(i), item, reader) for i, item in enumerate(value))


def _is_object(shape: Shape, value: Mapping[str, Json], reader: Reader) -> bool:
    objects = shape.objects
    if len(value) < objects.least or (objects.most is not None and len(value) > objects.most):
        return False
    if not objects.required <= value.keys():
        return False
    return all(
        _conforms(objects.of(key), item, reader) and _conforms(objects.names, key, reader)
        for key, item in value.items()
    )


def _conforms(schemas: Conjunction, value: Json, reader: Reader) -> bool:
    if not schemas:
        return True
    try:
        return any(admits(shape, value, reader) for shape in reader.shapes(schemas, implied=False))
    except Impossible:
        return False
