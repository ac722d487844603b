"""The arguments of a call to anything but a tool."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from atc.check.known.core import Core
from atc.check.known.kinds import Mapped, Tuple, Type


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a call passes. `sure` is False where `*` or `**` passes more, which is in `loose`."""

    values: list[Type]
    nodes: list[ast.expr]
    named: dict[str, Type]
    sure: bool
    loose: list[Type]

    def every(self) -> Iterator[Type]:
        """All values passed."""
        yield from self.values
        yield from self.named.values()
        yield from self.loose

    def first(self) -> tuple[Type, ast.expr] | None:
        """The first positional argument, if it is certain which it is."""
        return (self.values[0], self.nodes[0]) if self.values and self.sure else None


def exact(value: Type) -> TypeGuard[Mapped]:
    """Whether it is a dict of which every key is known."""
    if not isinstance(value, Mapped):
        return False
    cell = value.cell
    return not cell.open and not cell.shrunk and cell.keys.keys() == cell.first | value.stored


def read_arguments(core: Core, node: ast.Call, *, skip: int = 0) -> Arguments:
    """Every argument of a call, evaluated."""
    values: list[Type] = []
    nodes: list[ast.expr] = []
    named: dict[str, Type] = {}
    sure = True
    loose: list[Type] = []
    for argument in node.args[skip:]:
        if isinstance(argument, ast.Starred):
            value = core.evaluate(argument.value)
            if isinstance(value, Tuple):
                values.extend(value.items)
                nodes.extend([argument.value] * len(value.items))
                continue
            loose.append(value)
            sure = False
        else:
            values.append(core.evaluate(argument))
            nodes.append(argument)
    for keyword in node.keywords:
        value = core.evaluate(keyword.value)
        if keyword.arg is None:
            loose.append(value)
            if exact(value):
                named.update(value.cell.keys | dict(value.refined))
            else:
                sure = False
        else:
            named[keyword.arg] = value
    return Arguments(values, nodes, named, sure, loose)
