"""The data flow of a gold run: which response each argument came from. Patterns and depths of tasks are counted so.

An argument came from the earliest response that holds an equal value of the same type, unless the program has that
value as a literal. Booleans, short texts, and whole numbers below 1,000 (pages, hours, ranks) are no evidence of a
flow: an argument that is neither a literal nor traced is counted as computed.
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
    """Values at `path` of `producer`'s responses (`/flights/*/flight_id`) that became `argument` of `consumer`."""

    producer: str
    path: str
    consumer: str
    argument: str


@dataclass(frozen=True, slots=True)
class Flow:
    """How one run's calls hang together."""

    operations: frozenset[str]
    edges: frozenset[Edge]
    computed: frozenset[tuple[str, str]]
    """Pairs of operation and argument whose value is neither a literal nor in a response."""
    depth: int
    """Calls in the longest chain in which each one takes a value from the one before."""
    carried: frozenset[str]
    """Texts that came from responses into arguments."""

    @property
    def pattern(self) -> str:
        """A digest of operations, paths and arguments; constants and numbers of calls do not change it."""
        parts = [
            sorted(self.operations),
            sorted(map(repr, self.edges)),
            sorted(map(list, self.computed)),
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def flow_of(program: str, calls: Sequence[ToolCall]) -> Flow:
    """The flow of a run of `program` that made `calls`."""
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
    """Whether equality with `value` says where something came from."""
    if isinstance(value, str):
        return len(value) >= 2
    return isinstance(value, int | float) and (value != int(value) or abs(value) >= 1000)


def _key(value: object) -> str:
    return f"{type(value).__name__}:{value!r}"
