"""Where the values of a program's arguments came from: places in earlier responses, or the task."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atc.attribute.sources import Sources
from atc.attribute.tree import Tree, called_name
from atc.paths import MAX_NODES, Path, meets, telling, text, walk
from protocols.jsontypes import Json
from sandbox.trace import ToolCall

_KEPT = 12
"""Places of an equal value that are kept: the first ones and the latest."""


@dataclass(frozen=True, slots=True)
class Origin:
    """An argument, or a value within it, and what it equals: `path` of the response of `call`, or the task (None)."""

    argument: str
    call: int | None
    path: str = ""


def provenance(calls: Sequence[ToolCall], source: str, task: str) -> Mapping[int, tuple[Origin, ...]]:
    """By index of a call, the origins of its arguments' values.

    A value came from an equal one of an earlier response. Where several are equal, it is the one that the program reads
    for this argument, else the latest. What stands in no response and is a word of the task came from there.
    """
    reads = _Reads(source, {call.tool for call in calls})
    seen: dict[tuple[type, Json], list[tuple[ToolCall, Path]]] = {}
    words = task.casefold()
    left = MAX_NODES
    found: dict[int, tuple[Origin, ...]] = {}
    for call in calls:
        origins = []
        for path, value in walk(call.arguments):
            if isinstance(value, list | Mapping) or not path:
                continue
            places = seen.get((type(value), value)) if telling(value) else None
            if places:
                made, where = reads.choose(call, path, places)
                origins.append(Origin(text(path), made.index, text(where)))
            elif not isinstance(value, bool | None) and _is_word(str(value).casefold(), words):
                origins.append(Origin(text(path), None))
        found[call.index] = tuple(origins)
        if call.error is None and left > 0:
            for path, value in walk(call.result):
                left -= 1
                if not isinstance(value, list | Mapping) and telling(value):
                    kept = seen.setdefault((type(value), value), [])
                    if len(kept) >= _KEPT:
                        kept.pop(_KEPT // 2)
                    kept.append((call, path))
    return found


def _is_word(value: str, words: str) -> bool:
    return bool(value) and value in words and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", words) is not None


class _Reads:
    """What the program's text says of an argument: the tools and places whose values may reach it unchanged."""

    def __init__(self, source: str, tools: set[str]) -> None:
        self._tree = Tree.of(source)
        self._sources = Sources(self._tree, tools)
        self._calls = [node for node in ast.walk(self._tree.root) if isinstance(node, ast.Call)]
        self._known: dict[tuple[int, str, Path], list[tuple[str, Path]]] = {}

    def choose(self, call: ToolCall, argument: Path, places: Sequence[tuple[ToolCall, Path]]) -> tuple[ToolCall, Path]:
        """Of equal values the one that the argument is read from, else the latest."""
        if len(places) == 1:
            return places[0]
        read = self._read(call, argument)
        fitting = [
            (made, path) for made, path in places if any(made.tool == tool and _ends(path, way) for tool, way in read)
        ]
        return (fitting or places)[-1]

    def _read(self, call: ToolCall, argument: Path) -> list[tuple[str, Path]]:
        steps = tuple(step for step in argument if not isinstance(step, int))
        key = (call.line, call.tool, steps)
        if key not in self._known:
            given = [
                keyword.value
                for node in self._calls
                if node.lineno <= call.line <= (node.end_lineno or 0) and called_name(node) == call.tool
                for keyword in node.keywords
                if keyword.arg == argument[0]
            ]
            found = [source for value in given for source in self._sources.of(value, argument[1:]) if source.exact]
            self._known[key] = [(source.tool, source.path) for source in found]
        return self._known[key]


def _ends(path: Path, way: Path) -> bool:
    """Whether a place in the full response may be the one that the program reads, which had less around it."""
    return len(way) <= len(path) and all(meets(a, b) for a, b in zip(path[len(path) - len(way) :], way, strict=True))
