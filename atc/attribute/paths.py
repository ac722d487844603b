"""Places in a JSON value: steps, the text of a path, and what stands there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from protocols.jsontypes import Json

MAX_NODES = 200_000
"""Values visited in one search; larger responses are searched up to here, in order."""


class Many(Enum):
    """Steps that stand for many."""

    EACH = "[]"
    """Some element of a list, or some value of an object."""
    KEY = "key"
    """Some key of an object: a text, with nothing beneath it."""


EACH, KEY = Many.EACH, Many.KEY


@dataclass(frozen=True, slots=True)
class Dot:
    """An attribute of an object of the program's own; leads nowhere in JSON."""

    name: str


Step = str | int | Many | Dot
Path = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A concrete place in a response. `missing` is the step that leads no further from `value`, None when all exist."""

    path: Path
    value: Json
    missing: Step | None = None

    @property
    def seen(self) -> Json:
        """What a program that asked politely (`.get`) had in hand."""
        return self.value if self.missing is None else None


def meets(one: Step, other: Step) -> bool:
    """Whether two steps may lead to the same place."""
    return one is EACH or other is EACH or one == other


def text(path: Path) -> str:
    """`("rows", EACH, "id")` → `rows[].id`; the empty path is the whole response."""
    out = ""
    for step in path:
        match step:
            case Many():
                out += "[]" if step is EACH else ".keys()"
            case Dot(name):
                out += f".{name}"
            case int():
                out += f"[{step}]"
            case str() if step.isidentifier():
                out += f".{step}" if out else step
            case _:
                out += f"[{step!r}]"
    return out


def places(value: Json, path: Path, *, limit: int = MAX_NODES) -> Iterator[Place]:
    """Every place in `value` that `path` may mean, in document order, at most `limit` of them."""
    stack: list[tuple[Path, Json, Path]] = [((), value, path)]
    visited = 0
    while stack and visited < limit:
        visited += 1
        done, current, rest = stack.pop()
        if not rest:
            yield Place(done, current)
            continue
        below = _below(current, rest[0])
        if below is None:
            yield Place(done, current, rest[0])
        else:
            stack.extend(((*done, step), inner, rest[1:]) for step, inner in reversed(below))


def _below(value: Json, step: Step) -> list[tuple[Step, Json]] | None:
    """Where `step` leads from `value`; None where it leads nowhere (an empty list is no dead end for EACH)."""
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


def walk(value: Json) -> Iterator[tuple[Path, Json]]:
    """Every value inside `value` with its path, in document order, at most `MAX_NODES`."""
    stack: list[tuple[Path, Json]] = [((), value)]
    visited = 0
    while stack and visited < MAX_NODES:
        visited += 1
        path, current = stack.pop()
        yield path, current
        if isinstance(current, Mapping):
            stack.extend(((*path, key), inner) for key, inner in reversed(list(current.items())))
        elif isinstance(current, list):
            room = MAX_NODES - visited
            stack.extend(((*path, i), current[i]) for i in range(min(len(current), room) - 1, -1, -1))


def general(path: Path) -> Path:
    """The path with every index of a list replaced by EACH."""
    return tuple(EACH if isinstance(step, int) else step for step in path)


def at(value: Json, path: Path) -> Json:
    """What stands at a concrete path; None where nothing does."""
    place = next(places(value, path, limit=len(path) + 1), None)
    return place.seen if place is not None else None
