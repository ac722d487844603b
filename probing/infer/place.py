"""Where in a response a schema is being written: path, depth, what is known, and the objects around it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from probing.infer.known import Known
from probing.infer.strategy import Seen
from probing.infer.writer import Writer
from protocols.jsontypes import Json

MAX_DEPTH = 64
"""Levels of nesting that are described; below them anything is allowed. Trees of one shape do not count: they recur."""

Step: TypeAlias = str | int | frozenset[str]
"""One step down: a property; `ITEM`, any element; a set of names, any property but these."""

ITEM = 0

Kinds: TypeAlias = Mapping[str, frozenset[str]]
"""The keys of the objects of a place → the JSON types of their values."""


@dataclass(eq=False, slots=True)
class Frame:
    """Objects of one place whose schema is being written; `edges` lead from one of them to another of the same kind."""

    path: tuple[Step, ...]
    known: Known | None
    outer: Frame | None
    kinds: Kinds
    edges: set[tuple[Step, ...]] = field(default_factory=set)
    name: str = ""
    """Of the definition that the edges refer to; empty without edges."""

    def leads_to(self, other: Frame, objects: Seen) -> bool:
        """Whether `other`, further down, holds `objects` of this kind.

        They nest by the same key, have mostly the same keys, and so have the objects between: a list of records in a
        page is no page of its own because it has `items` too.
        """
        first, here, there = other.path[len(self.path)], self.kinds, other.kinds
        if not isinstance(first, str) or first not in there or not _same_known(self.known, other.known):
            return False
        shared = here.keys() & there.keys()
        differing = [key for key in shared if not _compatible(here[key], there[key])]
        if not _mostly_same(here, there) or first in differing or 4 * len(differing) > len(shared):
            return False
        if len(shared) == 1 and (
            len(here) > 1 or len(there) > 1 or first not in _keys_at(objects, self.edge_to(other))
        ):
            return False
        between, frame = [], other.outer
        while frame is not None and frame is not self:
            between.append(frame)
            frame = frame.outer
        return all(_mostly_same(one.kinds, _keys_at(objects, self.edge_to(one))) for one in between)

    def edge_to(self, other: Frame) -> tuple[Step, ...]:
        """The steps from here to a frame further down."""
        return other.path[len(self.path) :]

    def joined(self, objects: Seen) -> Seen:
        """`objects` and all that the edges lead to from them, from there, and so on."""
        found, todo = list(objects), list(objects)
        while todo:
            value, reply = todo.pop()
            for edge in self.edges:
                more = [(part, reply) for part in _follow(value, edge) if isinstance(part, dict)]
                found += more
                todo += more
        return found


class Recursive(Exception):
    """Found while writing: the place at `edge` below `frame` is of its kind, so that `frame` must be written anew."""

    def __init__(self, frame: Frame, edge: tuple[Step, ...]) -> None:
        super().__init__(edge)
        self.frame, self.edge = frame, edge


@dataclass(frozen=True, slots=True)
class Place:
    """A place of a response. `name` is that of the nearest property at or above it."""

    writer: Writer
    path: tuple[Step, ...] = ()
    name: str = ""
    known: Known | None = None
    frame: Frame | None = None

    @classmethod
    def root(cls, known: Known | None, sent: Mapping[int, AbstractSet[str]] | None = None) -> Place:
        """The whole response; `sent` are the texts that each reply's call was given."""
        return cls(Writer(known, sent), known=known)

    @property
    def depth(self) -> int:
        """0 for the whole response."""
        return len(self.path)

    def property(self, key: str) -> Place:
        """The place under a key."""
        return self._inside(key, key, self.known and self.known.property(key))

    def rest(self, named: frozenset[str]) -> Place:
        """The place under any key but `named`."""
        return self._inside(named, self.name, self.known and self.known.rest)

    def item(self) -> Place:
        """The place of any element."""
        return self._inside(ITEM, self.name, self.known and self.known.items)

    def unknown(self) -> Place:
        """The same place, as if nothing were known of it."""
        return replace(self, known=None)

    def knowing(self, known: Known) -> Place:
        """The same place, with another document of it."""
        return replace(self, known=known)

    def inside(self, frame: Frame) -> Place:
        """The same place, with its objects being written."""
        return replace(self, frame=frame)

    def frames(self) -> Iterator[Frame]:
        """The objects around this place that are being written, innermost first."""
        frame = self.frame
        while frame is not None:
            yield frame
            frame = frame.outer

    def _inside(self, step: Step, name: str, known: Known | None) -> Place:
        return replace(self, path=(*self.path, step), name=name, known=known)


def _same_known(one: Known | None, other: Known | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.schema is other.schema or one.reference == other.reference != ""


def _mostly_same(one: Collection[str], other: Collection[str]) -> bool:
    return 2 * len(set(one) & set(other)) >= len(set(one) | set(other)) > 0


def _keys_at(objects: Seen, steps: tuple[Step, ...]) -> set[str]:
    """The keys of the objects to which some steps lead."""
    return {key for value, _ in objects for part in _follow(value, steps) if isinstance(part, dict) for key in part}


def _compatible(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one & other) or not (one - {"null"}) or not (other - {"null"})


def _follow(value: Json, edge: tuple[Step, ...]) -> list[Json]:
    values = [value]
    for step in edge:
        if isinstance(step, str):
            values = [part[step] for part in values if isinstance(part, dict) and step in part]
        elif isinstance(step, int):
            values = [element for part in values if isinstance(part, list) for element in part]
        else:
            values = [
                inner for part in values if isinstance(part, dict) for key, inner in part.items() if key not in step
            ]
    return values
