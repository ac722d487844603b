"""Paths into JSON values, such as `rows[].id`.

The functions follow and format paths, and find where in the responses a value came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import islice

from protocols.schema import Json, join_path
from sandbox.trace import ToolCall

MAX_NODES = 200_000
"""Most values that one search visits. Of a larger response, only the beginning is searched."""


class Many(Enum):
    """Steps of a path that match several positions at once, such as all elements of a list."""

    EACH = "[]"
    """Any element of a list, or any value of an object."""
    KEY = "key"
    """Any key of an object.

    It selects the key itself, not the value below it, so it is the last step of a path.
    """


EACH = Many.EACH
KEY = Many.KEY


PathStep = str | int | Many
JsonPath = tuple[PathStep, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """The position in a response to which a path leads, with the value there.

    If the path does not exist, this is the last position on the path that exists.
    """

    path: JsonPath
    """The steps of the path that exist."""
    value: Json
    missing: PathStep | None = None
    """First step that does not exist in `value`; None if all steps exist."""

    @property
    def value_or_none(self) -> Json:
        """The value to which the path leads; None if a step of the path does not exist."""
        return self.value if self.missing is None else None


def can_overlap(one: PathStep, other: PathStep) -> bool:
    """Return True if two path steps can lead to the same item or field of a value.

    `EACH` matches all items, so it overlaps with every step.
    """
    return one is EACH or other is EACH or one == other


def format_json_path(path: JsonPath) -> str:
    """Return a path as text: `rows[].id` for `("rows", EACH, "id")`, "" for the whole response."""
    out = ""
    for step in path:
        match step:
            case Many():
                out += "[]" if step is EACH else ".keys()"
            case int():
                out += f"[{step}]"
            case _:
                out = join_path(out, step)
    return out


def find_places(value: Json, path: JsonPath, *, limit: int = MAX_NODES) -> Iterator[Place]:
    """Yield the positions in `value` to which `path` leads, in document order.

    At most `limit` values are visited. If a step does not exist somewhere, the last existing
    position there is yielded (see `Place`).
    """
    stack: list[tuple[JsonPath, Json, JsonPath]] = [((), value, path)]
    visited = 0
    while stack and visited < limit:
        visited += 1
        done, current, rest = stack.pop()
        if not rest:
            yield Place(done, current)
            continue
        below = _follow_step(current, rest[0])
        if below is None:
            yield Place(done, current, rest[0])
        else:
            stack.extend(((*done, step), inner, rest[1:]) for step, inner in reversed(below))


def _follow_step(value: Json, step: PathStep) -> list[tuple[PathStep, Json]] | None:
    """Return the items or fields of `value` that one path step selects, each with its key or index.

    Return None if the step does not exist in `value`. In an empty list or object, EACH exists but
    selects nothing.
    """
    match step, value:
        case Many.EACH, list():
            return list(enumerate(value))
        case Many.EACH, Mapping():
            return list(value.items())
        case Many.KEY, Mapping():
            return [(KEY, key) for key in value]
        case int(), list() if -len(value) <= step < len(value):
            return [(step % len(value), value[step])]
        case str(), Mapping() if step in value:
            return [(step, value[step])]
    return None


def walk(value: Json) -> Iterator[tuple[JsonPath, Json]]:
    """Yield every value inside `value` with its path, in document order.

    At most `MAX_NODES` values are yielded. The first one is `value` itself.
    """
    stack: list[tuple[JsonPath, Json]] = [((), value)]
    visited = 0
    while stack and visited < MAX_NODES:
        visited += 1
        path, current = stack.pop()
        yield path, current
        if isinstance(current, Mapping):
            stack.extend(((*path, key), inner) for key, inner in reversed(list(current.items())))
        elif isinstance(current, list):
            room = MAX_NODES - visited
            last = min(len(current), room) - 1
            stack.extend(((*path, i), current[i]) for i in range(last, -1, -1))


def walk_responses(calls: Iterable[ToolCall]) -> Iterator[tuple[ToolCall, JsonPath, Json]]:
    """Yield every value in the responses of `calls`, each with its call and its path.

    At most `MAX_NODES` values are yielded.
    """
    values = ((call, path, inner) for call in calls for path, inner in walk(call.result))
    return islice(values, MAX_NODES)


def generalize(path: JsonPath) -> JsonPath:
    """Return the path with each list index replaced by EACH, the step that matches all elements."""
    return tuple(EACH if isinstance(step, int) else step for step in path)


def count_shared_steps(one: JsonPath, other: JsonPath) -> int:
    """Return the number of steps that two paths have in common at their beginning."""
    shared = 0
    for step, other_step in zip(one, other, strict=False):
        if step != other_step:
            break
        shared += 1
    return shared


def get_at_path(value: Json, path: JsonPath) -> Json:
    """Return the value at a path; None if the path does not exist.

    The path must not contain steps that match several positions (`Many`).
    """
    place = next(find_places(value, path, limit=len(path) + 1), None)
    return place.value_or_none if place is not None else None


_COMMON = frozenset(
    [
        "true",
        "false",
        "yes",
        "no",
        "none",
        "null",
        "ok",
        "asc",
        "desc",
        "name",
        "id",
        "key",
        "value",
        "type",
        "date",
    ]
) | {"data", "all", "any", "on", "off", "utc", "gmt", "usd", "eur", "en", "us"}
"""Texts in lower case that are so common that finding the same text elsewhere proves nothing."""


@dataclass(frozen=True, slots=True)
class ResponseOrigin:
    """A position in an earlier response at which a value was found."""

    call: int
    """Index of the call in the trace."""
    tool: str
    """Alias of the called tool."""
    path: str
    """Path in the whole response, with `[]` if the value was found at several list positions."""
    steps: JsonPath
    """Steps to the position, or to the first of several positions."""


def is_distinctive(value: Json) -> bool:
    """Return True if a value is so unusual that finding it twice is probably no coincidence.

    This is so for ids and names. None, booleans, 0, 1, "" and common words are not distinctive.
    """
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


def find_origins(value: Json, calls_before: Iterable[ToolCall]) -> tuple[ResponseOrigin, ...]:
    """Return where in the responses of `calls_before` the value occurs, latest call first.

    The value there must be equal and of the same type. Positions that differ only in list indices
    are one origin, written with `[]`. Values that are not distinctive (see `is_distinctive`) have
    no origin. At most `MAX_NODES` values are compared.
    """
    if not is_distinctive(value):
        return ()
    successful = (call for call in calls_before if call.error is None)
    before = sorted(successful, key=lambda call: -call.index)
    matches: dict[tuple[int, JsonPath], tuple[ToolCall, list[JsonPath]]] = {}
    for call, path, inner in walk_responses(before):
        if type(inner) is type(value) and inner == value:
            matches.setdefault((id(call), generalize(path)), (call, []))[1].append(path)
    origins = []
    for (_, pattern), (call, paths) in matches.items():
        text = format_json_path(paths[0] if len(paths) == 1 else pattern)
        origins.append(ResponseOrigin(call.index, call.tool, text, paths[0]))
    return tuple(origins)
