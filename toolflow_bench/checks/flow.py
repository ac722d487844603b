"""The data flow of a gold run: the response from which each argument came.

It determines the pattern and the depth of a task. An argument comes from the earliest response that
holds an equal value of the same type, unless the program has the value as a literal. Booleans,
short texts, and whole numbers below 1,000 (pages, hours, ranks) are no evidence of a flow. An
argument that is neither a literal nor traced counts as computed.
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
    """A flow of values from `path` in `producer`'s responses to `argument` of `consumer`.

    A path looks like `/flights/*/flight_id`.
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
    """Pairs of operation and argument whose value is neither a literal nor in a response."""
    depth: int
    """Calls in the longest chain in which each call takes a value from the one before."""
    carried: frozenset[str]
    """Texts that came from responses into arguments."""

    @property
    def pattern(self) -> str:
        """A digest of operations, paths and arguments.

        Constants and numbers of calls do not affect it.
        """
        parts = [
            sorted(self.operations),
            sorted(map(repr, self.edges)),
            sorted(map(list, self.computed)),
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def flow_of(program: str, calls: Sequence[ToolCall]) -> Flow:
    """Compute the flow of a run of `program` that made `calls`."""
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
    """Return True if two equal values of this kind probably have the same origin."""
    if isinstance(value, str):
        return len(value) >= 2
    return isinstance(value, int | float) and (value != int(value) or abs(value) >= 1000)


def _key(value: object) -> str:
    return f"{type(value).__name__}:{value!r}"
