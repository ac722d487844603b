"""Origins of the values of a program's arguments: places in earlier responses, or the task."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atc.core.json_paths import MAX_NODES, JsonPath, format_json_path, is_distinctive, walk
from protocols.schema import Json
from sandbox.trace import ToolCall


@dataclass(frozen=True, slots=True)
class ArgumentOrigin:
    """An argument, or a value within it, and its origin: `path` in the response of `call`, or the
    task if that is None.
    """

    argument: str
    call: int | None
    path: str = ""


def provenance(calls: Sequence[ToolCall], task: str) -> Mapping[int, tuple[ArgumentOrigin, ...]]:
    """Return the origins of the values of each call's arguments, by index of the call.

    A value came from the first response that holds an equal one. A value that no response holds,
    and that is a word of the task, came from the task.
    """
    first: dict[tuple[type, Json], tuple[int, JsonPath]] = {}
    words = task.casefold()
    left = MAX_NODES
    found: dict[int, tuple[ArgumentOrigin, ...]] = {}
    for call in calls:
        origins = []
        for path, value in walk(call.arguments):
            if isinstance(value, list | Mapping) or not path:
                continue
            if is_distinctive(value) and (place := first.get((type(value), value))) is not None:
                origins.append(
                    ArgumentOrigin(format_json_path(path), place[0], format_json_path(place[1]))
                )
            elif not isinstance(value, bool | None) and _is_word(str(value).casefold(), words):
                origins.append(ArgumentOrigin(format_json_path(path), None))
        found[call.index] = tuple(origins)
        if call.error is None and left > 0:
            for path, value in walk(call.result):
                left -= 1
                if not isinstance(value, list | Mapping) and is_distinctive(value):
                    first.setdefault((type(value), value), (call.index, path))
    return found


def _is_word(value: str, words: str) -> bool:
    return (
        bool(value)
        and value in words
        and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", words) is not None
    )
