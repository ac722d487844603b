"""Where a value came from: the earlier responses that hold an equal one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from atc.attribute.paths import MAX_NODES, Path, general, text, walk
from protocols.jsontypes import Json
from sandbox.trace import ToolCall

_COMMON = frozenset(
    ["true", "false", "yes", "no", "none", "null", "ok", "asc", "desc", "name", "id", "key", "value", "type", "date"]
) | {"data", "all", "any", "on", "off", "utc", "gmt", "usd", "eur", "en", "us"}
"""Texts that stand everywhere, lower case: an equal one elsewhere says nothing."""


@dataclass(frozen=True, slots=True)
class Origin:
    """A place in an earlier response that holds the value: call index, the tool's alias, path in the full response."""

    call: int
    tool: str
    path: str
    steps: Path
    """The same path as steps; of the first match where `path` says `[]` for several."""


def telling(value: Json) -> bool:
    """Whether an equal value elsewhere says something: ids and names do; None, booleans, 0, 1 and "" do not."""
    match value:
        case None | bool():
            return False
        case str():
            return len(value) >= 2 and value.strip().lower() not in _COMMON
        case int():
            return abs(value) >= 10
        case float():
            return value == value and (abs(value) >= 10 or not value.is_integer())
        case _:
            return bool(value)


def origins(value: Json, calls_before: Iterable[ToolCall]) -> tuple[Origin, ...]:
    """Every place in the responses of `calls_before` that holds `value`, nearest call first.

    Equal means equal and of the same type. Matches that differ in list indices alone are one origin with `[]` for
    the indices. Values that occur everywhere have no origin. At most `MAX_NODES` values are looked at.
    """
    if not telling(value):
        return ()
    found: list[Origin] = []
    budget = MAX_NODES
    for call in sorted(calls_before, key=lambda call: -call.index):
        if call.error is not None or budget <= 0:
            continue
        matches: dict[Path, list[Path]] = {}
        for path, inner in walk(call.result):
            budget -= 1
            if budget <= 0:
                break
            if type(inner) is type(value) and inner == value:
                matches.setdefault(general(path), []).append(path)
        found += _merged(call, matches)
    return tuple(found)


def _merged(call: ToolCall, matches: dict[Path, list[Path]]) -> Iterator[Origin]:
    for pattern, paths in matches.items():
        yield Origin(call.index, call.tool, text(paths[0] if len(paths) == 1 else pattern), paths[0])
