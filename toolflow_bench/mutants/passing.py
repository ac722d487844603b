"""Values that came unchanged from a response into an argument."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from protocols.jsontypes import Json
from toolflow_bench.mutants.making import Where, of_argument
from toolflow_bench.mutants.observe import Gold, Seen


class Passed(NamedTuple):
    """An argument of the calls that `site` makes; `seen` is its first value whose origin is known."""

    site: ast.Call
    argument: str
    given: ast.expr
    seen: Seen


def passed_on(gold: Gold) -> Iterator[Passed]:
    """Every argument that can be an id and came from a response."""
    for site in gold.tool_calls():
        for keyword in site.keywords:
            seen = gold.traced(keyword.value)
            if keyword.arg is not None and seen and seen[0].is_scalar and telling(seen[0].value):
                yield Passed(site, keyword.arg, keyword.value, seen[0])


def telling(value: Json) -> bool:
    """Whether a value can be an id."""
    return (isinstance(value, str) and len(value) > 1) or (isinstance(value, int) and not isinstance(value, bool))


def consumers(gold: Gold, read: ast.expr) -> list[Where]:
    """The arguments that get what `read` gives, as itself or through variables; that of the earliest call first."""
    places = {(one.call, one.path) for one in gold.traced(read)}
    within = {id(node) for node in ast.walk(read)}
    found: list[tuple[int, Where]] = []
    for site in gold.tool_calls():
        for keyword in site.keywords:
            seen = gold.traced(keyword.value)
            inside = list(ast.walk(keyword.value))
            direct = any(node is read for node in inside)
            # A second read of the same place is another one.
            reads_anew = not direct and any(isinstance(node, ast.Subscript) for node in inside)
            if keyword.arg is None or reads_anew or id(keyword.value) in within - {id(read)}:
                continue
            if direct or any((one.call, one.path) in places for one in seen):
                first = gold.values(site)[0].call or 0
                found.append((first, of_argument(gold, site, keyword.arg, sure=False)))
    return [where for _, where in sorted(found, key=lambda one: one[0])]
