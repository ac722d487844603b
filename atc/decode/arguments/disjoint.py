"""Whether two alternatives have nothing in common, as far as that is easily seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from atc.decode.arguments.admits import admits
from atc.decode.arguments.impossible import Impossible
from atc.decode.arguments.shape import Shape, joined
from atc.decode.arguments.strings import Strings, string_pattern

if TYPE_CHECKING:
    from atc.decode.arguments.read import Reader

_DEPTH = 4


def disjoint(shape: Shape, other: Shape, reader: Reader, *, depth: int = _DEPTH) -> bool:
    """Whether no value that is written for `shape` is of `other`; `False` where that is not seen.

    What is written for `shape` has no keys but those that it names.
    """
    types = shape.types & other.types
    if shape.values is not None:
        return not any(admits(other, value, reader) for value in shape.values)
    if other.values is not None:
        return not any(admits(shape, value, reader) for value in other.values)
    return all(_apart(name, shape, other, reader, depth) for name in types)


def _apart(name: str, shape: Shape, other: Shape, reader: Reader, depth: int) -> bool:
    """Whether they have no value of the type `name` in common."""
    match name:
        case "integer" | "fraction":
            return shape.span.within(other.span).empty
        case "string":
            return _no_string(shape.strings.both(other.strings))
        case "array":
            ones, twos = shape.arrays, other.arrays
            lengths = ones.both(twos)
            return lengths.most is not None and lengths.most < lengths.least
        case "object":
            return _no_object(shape, other, reader, depth)
    return False


def _no_string(strings: Strings) -> bool:
    try:
        string_pattern(strings, "json", max(400, strings.least))
    except Impossible as error:
        return not error.unsaid
    return False


def _no_object(shape: Shape, other: Shape, reader: Reader, depth: int) -> bool:
    ones, twos = shape.objects, other.objects
    if any(twos.of(name) == (False,) for name in ones.required):
        return True
    if any(name not in ones.properties or ones.properties[name] == (False,) for name in twos.required - ones.required):
        return bool(ones.properties) and ones.extra in (None, (False,))
    if depth == 0:
        return False
    return any(_no_value(ones.of(name), twos.of(name), reader, depth - 1) for name in ones.required & twos.required)


def _no_value(one: tuple[object, ...], two: tuple[object, ...], reader: Reader, depth: int) -> bool:
    try:
        joined(one, two)
        ones, twos = reader.shapes(one), reader.shapes(two, implied=False)
    except Impossible as error:
        return not error.deep
    return all(disjoint(a, b, reader, depth=depth) for a in ones for b in twos)
