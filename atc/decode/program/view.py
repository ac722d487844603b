"""What a program can read at one point, by what it is good for: regular expressions of variables with subscripts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from atc.check.schema import field_type
from atc.check.types import (
    ANY,
    INT,
    NEVER,
    TOOL_ERROR,
    Array,
    Atom,
    Listing,
    Mapped,
    Origin,
    Record,
    Type,
    join,
    members,
)
from atc.decode.program.beginning import Point
from atc.decode.program.nodes import any_of
from atc.decode.program.places import MOST_STEPS, Kind, Place, kind_of, places, reach

MOST_VARIABLES = 40
"""Names of one program that are offered: the latest ones."""


@dataclass(frozen=True, slots=True)
class Read:
    """One thing that can be read: a variable and the place in it."""

    name: str
    place: Place
    kind: Kind


class Reader:
    """Finds the places in values, remembering those of values that only schemas describe."""

    def __init__(self) -> None:
        self._known: dict[tuple[Type, frozenset[Origin]], list[tuple[Place, Kind]]] = {}
        self._suffixes: dict[tuple[object, ...], str | None] = {}

    def read(self, value: Type, calm: frozenset[Origin], origin: Origin | None = None) -> list[tuple[Place, Kind]]:
        """Every place in `value` with what it is good for."""
        if origin is None and (known := self._known.get((value, calm))) is not None:
            return known
        found = [(place, kind_of(place.kind, calm)) for place in places(value, calm, origin)]
        if origin is None and _lasting(value):
            self._known[value, calm] = found
        return found

    def below(
        self,
        value: Type,
        calm: frozenset[Origin] = frozenset(),
        *names: str,
        nullable: bool = False,
        itself: bool = True,
    ) -> str | None:
        """A regular expression of the subscripts in `value` to what is of one of these kinds (any where none is named).

        `nullable`: also to what may be None. `itself`: no subscript at all may be among them.
        """
        key = (value, calm, names, nullable, itself)
        if key in self._suffixes:
            return self._suffixes[key]
        found = reach(
            place
            for place, kind in self.read(value, calm)
            if (itself or place.suffix)
            and (nullable or not kind.nullable)
            and (not names or kind.name in names or kind.name == "any")
        )
        if _lasting(value):
            self._suffixes[key] = found
        return found


def _lasting(value: Type) -> bool:
    """Whether schemas alone say what it is: what a program makes is another thing in every run of the check."""
    return all(isinstance(member, Record | Array) and not getattr(member, "refined", ()) for member in members(value))


Wanted = Callable[[Read], bool]


class View:
    """What can be read at a point. `quotes` may be left to one kind, for expressions within an f-string."""

    def __init__(self, point: Point, tools: Collection[str], reader: Reader) -> None:
        self.point, self.reader = point, reader
        names = [name for name in point.names if name.isascii() and name.isidentifier() and name not in tools]
        self.names: Mapping[str, Type] = {
            name: point.names[name] for name in names[-MOST_VARIABLES:] if _data(point.names[name])
        }

    @cached_property
    def reads(self) -> list[Read]:
        """All that can be read."""
        found: list[Read] = []
        for name, value in self.point.names.items():
            if value == TOOL_ERROR:
                found.append(Read(name, Place(r"\.status", INT, None, 1), Kind("int")))
        for name, value in self.names.items():
            origin = self.point.origins.get(name)
            found += [Read(name, place, kind_of(place.kind, self.point.calm)) for place in self._by_key(value)]
            for place, kind in self.reader.read(value, self.point.calm, origin):
                found.append(Read(name, place, kind))
        return found

    def _by_key(self, value: Type) -> Iterator[Place]:
        """What stands in a dict under a key that a variable holds."""
        keys = self._keys
        for member in members(value) if keys is not None else ():
            if isinstance(member, Mapped) and member.cell.open:
                inside = join(*member.cell.keys.values(), member.cell.value)
                yield Place(f"\\[{keys}\\]", inside if inside is not NEVER else ANY, None, MOST_STEPS)
            elif isinstance(member, Record) and not member.shape.properties and not member.shape.closed:
                yield Place(f"\\[{keys}\\]", field_type(member, "*") or ANY, None, MOST_STEPS)

    @cached_property
    def _keys(self) -> str | None:
        """Variables whose value may be a key."""
        return self.variables(
            lambda value, kind: (
                kind.name in ("str", "int", "any")
                and not kind.nullable
                and not (isinstance(value, Atom) and value.values)
            )
        )

    def where(self, wanted: Wanted) -> str | None:
        """A regular expression of all that is wanted."""
        return self.all_of(read for read in self.reads if wanted(read))

    @staticmethod
    def all_of(reads: Iterable[Read]) -> str | None:
        """A regular expression of these."""
        by_name: dict[str, list[Place]] = {}
        for read in reads:
            by_name.setdefault(read.name, []).append(read.place)
        return any_of(f"{name}{reach(found)}" for name, found in by_name.items())

    def short(self, wanted: Wanted) -> str | None:
        """The same of variables and what stands directly under a key of theirs."""
        return self.where(lambda read: read.place.steps <= 1 and wanted(read))

    def kinds(self, *names: str, nullable: bool = False) -> str | None:
        """What is of one of these kinds, or unknown; `nullable`: also what may be None."""
        return self.where(lambda r: r.kind.name in (*names, "any") and (nullable or not r.kind.nullable))

    def variables(self, wanted: Callable[[Type, Kind], bool]) -> str | None:
        """The plain variables that are wanted."""
        return any_of(name for name, value in self.names.items() if wanted(value, kind_of(value, self.point.calm)))

    @cached_property
    def sliceable(self) -> str | None:
        """The lists that keep an order: no sets."""
        return self.where(
            lambda r: (
                r.kind.name == "list"
                and not r.kind.nullable
                and not any(isinstance(m, Listing) and m.kind == "set" for m in members(r.place.kind))
            )
        )

    @cached_property
    def lists(self) -> dict[Type, str]:
        """By the type of the items, the lists that hold such."""
        found: dict[Type, list[Read]] = {}
        for read in self.reads:
            if read.kind.name == "list" and not read.kind.nullable:
                found.setdefault(read.kind.item, []).append(read)
        return {item: self.all_of(reads) or "" for item, reads in found.items()}


def _data(value: Type) -> bool:
    """Whether a program can do something with it other than call it."""
    return all(
        isinstance(m, Record | Array | Atom | Listing | Mapped) or m is ANY or type(m).__name__ in ("Null", "Tuple")
        for m in members(value)
    )


def single_quoted(regex: str) -> str:
    """The same without double quotes, for use within an f-string in double quotes; keys stand as in `key_step`."""
    first, *others = regex.split('(?:\\"')
    kept = [first]
    for part in others:
        key, _, rest = part.partition("\\\"|'")
        kept.append(f"'{key}'{rest[len(key) + 2 :]}")
    return "".join(kept)
