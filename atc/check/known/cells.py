"""What the containers and objects hold that the program makes, by the place in the source that makes them."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from atc.check.known.constants import widened
from atc.check.known.kinds import Atom, DictCell, ListCell, Listing, Mapped, Type
from atc.check.known.lattice import join
from atc.check.known.objects import ClassShape

_MOST_GROWTH = 3


class Cells:
    """Everything that one run over a program has learned of its containers; `version` counts what was new."""

    def __init__(self) -> None:
        self.version = 0
        self._cells: dict[tuple[ast.AST, str], Any] = {}

    def listing(self, node: ast.AST, item: Type, kind: str = "list") -> Listing:
        """The list that the program makes at `node`, now holding `item` too."""
        cell = self._cells.setdefault((node, "list"), ListCell())
        self.add(cell, item)
        return Listing(cell, kind)

    def mapped(self, node: ast.AST) -> Mapped:
        """The dict that the program makes at `node`."""
        return Mapped(self._cells.setdefault((node, "dict"), DictCell()))

    def class_shape(self, node: ast.AST, name: str) -> ClassShape:
        """The class that the program makes at `node`."""
        shape: ClassShape = self._cells.setdefault((node, "class"), ClassShape(name))
        return shape

    def hold(self, shape: ClassShape, name: str, value: Type) -> None:
        """Give the instances of a class an attribute."""
        new = self._grown(shape.attributes.get(name), join(shape.attributes.get(name, value), value))
        if name not in shape.attributes or new != shape.attributes[name]:
            shape.attributes[name] = new
            self.version += 1

    def _grown(self, old: Type | None, new: Type) -> Type:
        """`new`, of which no more than its kind is told where more and more constants come, as in a count."""
        if isinstance(old, Atom) and isinstance(new, Atom) and old.values and new.values:
            return new if len(old.values) <= _MOST_GROWTH or new.values == old.values else widened(new)
        return new

    def add(self, cell: ListCell, item: Type) -> None:
        """Put an item into a list."""
        new = self._grown(cell.item, join(cell.item, item))
        if new != cell.item:
            cell.item = new
            self.version += 1

    def put(self, cell: DictCell, key: Any, value: Type) -> None:
        """Put a value under a constant key."""
        new = self._grown(cell.keys.get(key), join(cell.keys.get(key, value), value))
        if key not in cell.keys or new != cell.keys[key]:
            cell.keys[key] = new
            self.version += 1

    def put_any(self, cell: DictCell, key: Type, value: Type) -> None:
        """Put a value under a computed key."""
        keys = self._grown(cell.key, join(cell.key, key))
        values = self._grown(cell.value, join(cell.value, value))
        if not cell.open or keys != cell.key or values != cell.value:
            cell.open, cell.key, cell.value = True, keys, values
            self.version += 1

    def begin(self, cell: DictCell, keys: Iterable[str]) -> None:
        """Remember which constant keys a dict has whenever it is made."""
        first = cell.first & frozenset(keys) if cell.begun else frozenset(keys)
        if not cell.begun or first != cell.first:
            cell.first, cell.begun = first, True
            self.version += 1

    def shrink(self, cell: DictCell) -> None:
        """Take some key out of a dict."""
        if not cell.shrunk:
            cell.shrunk = True
            self.version += 1
