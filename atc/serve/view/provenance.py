"""Finds where the values of a program's arguments came from: an earlier response, or the task."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from atc.core.json_paths import MAX_NODES, JsonPath, format_json_path, is_distinctive, walk
from protocols.schema import Json
from sandbox.trace import ToolCall


@dataclass(frozen=True, slots=True)
class ArgumentOrigin:
    """The origin of the value of an argument, or of a value within it."""

    argument: str
    """Name of the argument, or path of the value within it, such as `filter.city`."""
    call: int | None
    """Index of the call whose response had the value; None if it came from the task."""
    path: str = ""
    """JSON path of the value in that response; empty if it came from the task."""


def provenance(calls: Sequence[ToolCall], task: str) -> Mapping[int, tuple[ArgumentOrigin, ...]]:
    """Return where the argument values of each call came from, keyed by the index of the call.

    A value came from the first earlier response that contains an equal value. If no response does,
    it came from the task, provided that the task contains it as a word. Values that came from
    neither are left out.
    """
    first: dict[tuple[type, Json], tuple[int, JsonPath]] = {}
    words = task.casefold()
    left = MAX_NODES
    found: dict[int, tuple[ArgumentOrigin, ...]] = {}
    for call in calls:
        origins = []
        for path, value in _scalars(call.arguments):
            place = first.get((type(value), value)) if is_distinctive(value) else None
            if place is not None:
                origin = ArgumentOrigin(
                    format_json_path(path), place[0], format_json_path(place[1])
                )
                origins.append(origin)
            elif not isinstance(value, bool | None) and _is_word(str(value).casefold(), words):
                origins.append(ArgumentOrigin(format_json_path(path), None))
        found[call.index] = tuple(origins)
        if call.error is None and left > 0:
            for path, value in walk(call.result):
                left -= 1
                if not isinstance(value, list | Mapping) and is_distinctive(value):
                    first.setdefault((type(value), value), (call.index, path))
    return found


def _scalars(arguments: Json) -> Iterator[tuple[JsonPath, Json]]:
    """Yield the JSON path and value of everything in the arguments that is no list or object."""
    for path, value in walk(arguments):
        if path and not isinstance(value, list | Mapping):
            yield path, value


def _is_word(value: str, words: str) -> bool:
    """Return True if `value` occurs in the text `words` with no letter or digit next to it."""
    if not value or value not in words:
        return False
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", words) is not None
