"""What the source says of one node, found once: loops and tests are looked at many times while types settle."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

_Node = TypeVar("_Node", bound=ast.AST)
_Found = TypeVar("_Found")

_BELOW = f"{__name__}.children"


def once_a_node(find: Callable[[_Node], _Found]) -> Callable[[_Node], _Found]:
    """`find`, a function of a node and what is below it alone. Its results are kept in the nodes themselves."""
    key = f"{find.__module__}.{find.__qualname__}"

    @wraps(find)
    def found(node: _Node) -> _Found:
        kept = node.__dict__
        if key not in kept:
            kept[key] = find(node)
        result: _Found = kept[key]
        return result

    return found


def children(node: ast.AST) -> tuple[ast.AST, ...]:
    """The nodes right below it, as `ast.iter_child_nodes` gives them."""
    kept = node.__dict__
    if _BELOW not in kept:
        values = [kept.get(name) for name in node._fields]
        parts = (part for value in values for part in (value if isinstance(value, list) else (value,)))
        kept[_BELOW] = tuple(part for part in parts if isinstance(part, ast.AST))
    found: tuple[ast.AST, ...] = kept[_BELOW]
    return found


def walk(node: ast.AST) -> list[ast.AST]:
    """The node and all that are below it, in the order of `ast.walk`."""
    found = [node]
    for part in found:
        found += children(part)
    return found


@once_a_node
def names_in(node: ast.AST) -> frozenset[str]:
    """Every name that stands in the code, whatever is done with it."""
    return frozenset(part.id for part in walk(node) if isinstance(part, ast.Name))
