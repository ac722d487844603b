"""How many characters each part of a call may take, so that no call grows beyond what a model is let write."""

from __future__ import annotations

from atc.decode.arguments.formats import FORMATS
from atc.decode.arguments.impossible import Impossible
from atc.decode.arguments.read import Reader
from atc.decode.arguments.shape import Arrays, Conjunction, Objects, Shape
from atc.decode.arguments.strings import Strings

LEAST = 32
"""Of a string, however little room there is."""
DEEPEST = 24
"""The same where a schema stands within itself; where there is less, it does so no further."""
KEY_CHARACTERS = 24
"""Of a key that no schema names."""
_LEAST_ITEMS = 4
_TEXT, _OPEN, _FORMATTED, _NUMBER, _INTEGER, _WORD = 100, 30, 30, 24, 12, 6
_USUAL_ITEMS = 3
_MOST = 1200
_DEPTH = 3


def share(room: int, wanted: int, all_wanted: int) -> int:
    """What a part gets of `room` that wants so much of what all parts want together."""
    return room * wanted // max(1, all_wanted)


def items(room: int, counts: tuple[int, int], wanted: int, level: int) -> tuple[int, int]:
    """How many items an array may have whose items want so much each, and the room of each.

    `counts`: the least and the most that its schema allows; `level`: how deep it stands within what contains itself.
    """
    least, most = counts
    few = 1 if level else _LEAST_ITEMS
    count = max(1, least, min(most, max(few, room // max(1, wanted))))
    return count, room // count


class Wants:
    """How many characters a value would like to have: a fair share for each, not what it needs at most."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._known: dict[tuple[int, ...], int] = {}

    def of(self, schemas: Conjunction, *, depth: int = _DEPTH) -> int:
        """What a value wants that conforms to all of `schemas`."""
        if not schemas:
            return _OPEN
        key = tuple(map(id, schemas))
        if key not in self._known:
            self._known[key] = _TEXT  # what stands within itself
            try:
                shapes = self._reader.shapes(schemas)
            except Impossible:
                shapes = []
            self._known[key] = min(_MOST, max((self._shape(shape, depth) for shape in shapes), default=0))
        return self._known[key]

    def _shape(self, shape: Shape, depth: int) -> int:
        if shape.values is not None:
            return _WORD
        wanted = _WORD
        if "integer" in shape.types:
            wanted = _INTEGER
        if "fraction" in shape.types:
            wanted = _NUMBER
        if "string" in shape.types:
            wanted = max(wanted, _string(shape.strings))
        if "array" in shape.types:
            wanted = max(wanted, self._array(shape.arrays, depth))
        if "object" in shape.types:
            wanted = max(wanted, self._object(shape.objects, depth))
        return wanted

    def _array(self, arrays: Arrays, depth: int) -> int:
        if not depth:
            return _TEXT
        first = sum(self.of(schemas, depth=depth - 1) for schemas in arrays.prefix)
        usual = _USUAL_ITEMS if arrays.most is None else min(_USUAL_ITEMS, arrays.most)
        return first + max(usual, arrays.least) * self.of(arrays.rest, depth=depth - 1)

    def _object(self, objects: Objects, depth: int) -> int:
        if not depth:
            return _TEXT
        parts = {name: part for name, part in objects.properties.items() if part != (False,)}
        wanted = sum(len(name) + self.of(part, depth=depth - 1) for name, part in parts.items())
        further = objects.extra not in (None, (False,)) or bool(objects.patterns) or not parts
        return wanted + further * _USUAL_ITEMS * _OPEN


def _string(strings: Strings) -> int:
    if FORMATS.intersection(strings.formats):
        return _FORMATTED
    return _TEXT if strings.most is None else max(_WORD, min(_TEXT, strings.most))
