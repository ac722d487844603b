"""What a slice ends at: the tool calls, constants and containers that a value may come from."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from atc.attribute.paths import Path

Context = tuple[ast.Call, ...]
"""Calls of the program's own functions that the slice has entered, innermost last."""


class Pick(NamedTuple):
    """One item of many, by order: the `rank`-th of those sorted by what stands at `key`; `depth` steps of the source's
    path lie within the item. `rank` None: the text does not say which one.
    """

    rank: int | None
    reverse: bool
    key: Path
    depth: int


@dataclass(frozen=True, eq=False, slots=True)
class Source:
    """Where a value may come from.

    `call`: the value at `path` of what the tool call `node` gives the program. `swallowed`: a value that an `except`
    put in place of that call's result. `literal`: a constant of the program. `made`: a container that the program
    built at `node`. `exact` says that the value is that one unchanged, not computed from it. `filters` are the tests
    of `if`s that items passed on the way. `pick` says which of many it is, where the program chose one.
    """

    kind: Literal["call", "swallowed", "literal", "made"]
    node: ast.expr
    tool: str = ""
    path: Path = ()
    exact: bool = True
    context: Context = ()
    filters: tuple[ast.expr, ...] = ()
    pick: Pick | None = None

    @property
    def from_call(self) -> bool:
        """Whether a tool call stands behind it."""
        return self.kind in ("call", "swallowed")

    def derived(self, filters: Sequence[ast.expr] = ()) -> Source:
        """The same source, for a value computed from it."""
        return replace(self, exact=False, filters=(*self.filters, *filters))


def once(found: Sequence[Source]) -> list[Source]:
    """Each source once, at its last (nearest) occurrence."""
    kept: dict[object, Source] = {}
    for source in found:
        key = (source.kind, id(source.node), source.path, source.exact, tuple(map(id, source.context)), source.pick)
        kept.pop(key, None)
        kept[key] = source
    return list(kept.values())
