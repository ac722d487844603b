"""The data flow of a gold run: from which response each argument's value came.

It determines the pattern and the depth of a task. An argument comes from the earliest response that
contains an equal value of the same type, unless the value is a literal in the program. Equal
booleans, short texts, and whole numbers below 1,000 (pages, hours, ranks) do not show that a value
came from a response. An argument that is neither a literal nor found in a response counts as
computed.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from protocols.python_source import parse_python
from protocols.schema import Json
from sandbox.trace import ToolCall
from toolflow_bench.numbers import leaf_places


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """An edge of the data flow, from a field of a response to an argument.

    Values at `path` in the responses of the operation `producer` became the `argument` of the
    operation `consumer`. A path looks like `/flights/*/flight_id`.
    """

    producer: str
    path: str
    consumer: str
    argument: str


@dataclass(frozen=True, slots=True)
class Flow:
    """The data flow between the calls of one run."""

    operations: frozenset[str]
    edges: frozenset[Edge]
    computed: frozenset[tuple[str, str]]
    """Pairs of an operation and an argument whose value is neither a literal nor in a response."""
    depth: int
    """Number of calls in the longest chain in which each call uses a value from the one before."""
    carried: frozenset[str]
    """Texts that the program took from responses and passed as arguments."""

    @property
    def pattern(self) -> str:
        """A digest of the operations, paths and arguments.

        Two tasks that differ only in constants or in numbers of calls have the same pattern.
        """
        parts = [
            sorted(self.operations),
            sorted(map(repr, self.edges)),
            sorted(map(list, self.computed)),
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def flow_of(program: str, calls: Sequence[ToolCall]) -> Flow:
    """Return the data flow of a run in which `program` made `calls`."""
    literals = {
        _key(node.value)
        for node in ast.walk(parse_python(program))
        if isinstance(node, ast.Constant)
    }
    sources: dict[str, tuple[int, str]] = {}  # value → call that first gave it, and where
    depths: list[int] = []
    edges: set[Edge] = set()
    computed: set[tuple[str, str]] = set()
    carried: set[str] = set()
    for number, call in enumerate(calls):
        depth = 1
        for place, value in leaf_places(dict(call.arguments)):
            argument = place[1:]
            key = _key(value)
            if key in literals:
                continue
            if not _is_distinctive(value) or key not in sources:
                computed.add((call.tool, argument))
                continue
            producer, path = sources[key]
            edges.add(Edge(calls[producer].tool, path, call.tool, argument))
            depth = max(depth, depths[producer] + 1)
            if isinstance(value, str):
                carried.add(value)
        depths.append(depth)
        for path, value in leaf_places(call.result):
            if _is_distinctive(value):
                sources.setdefault(_key(value), (number, path))
    operations = frozenset(call.tool for call in calls)
    return Flow(
        operations,
        frozenset(edges),
        frozenset(computed),
        max(depths, default=0),
        frozenset(carried),
    )


def _is_distinctive(value: Json) -> bool:
    """Return True if two values of this kind that are equal probably have the same origin."""
    if isinstance(value, str):
        return len(value) >= 2
    return isinstance(value, int | float) and (value != int(value) or abs(value) >= 1000)


def _key(value: object) -> str:
    return f"{type(value).__name__}:{value!r}"
