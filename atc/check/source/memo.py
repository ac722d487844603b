"""What the source says of one node, found once: loops and tests are looked at many times while types settle."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

_Node = TypeVar("_Node", bound=ast.AST)
_Found = TypeVar("_Found")


def once_a_node(find: Callable[[_Node], _Found]) -> Callable[[_Node], _Found]:
    """`find`, a function of a node and what is below it alone, with its results kept as long as their nodes."""
    kept: WeakKeyDictionary[_Node, _Found] = WeakKeyDictionary()

    @wraps(find)
    def found(node: _Node) -> _Found:
        if node not in kept:
            kept[node] = find(node)
        return kept[node]

    return found


@once_a_node
def names_in(node: ast.AST) -> frozenset[str]:
    """Every name that stands in the code, whatever is done with it."""
    return frozenset(part.id for part in ast.walk(node) if isinstance(part, ast.Name))
