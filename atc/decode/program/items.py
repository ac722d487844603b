"""The items of lists: what they are called in a program, and what can be read in one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from atc.check.types import NEVER, Origin, Record, Type, members
from atc.decode.program.arguments import Argument
from atc.decode.program.calls import Callable, Calls
from atc.decode.program.nodes import Part, any_of, either, maybe, pattern, row
from atc.decode.program.places import Kind, Place, key_step, reach
from protocols.words import singular, snake

MOST_PAIRS = 10
"""Names for the items of lists at the innermost point, all lists together."""
MOST_OUTER = 4
"""The same further out, where a block would be closed."""
MOST_CALLED = 24
"""Tools of a toolbox whose lists are gone through where they are called."""


@dataclass(frozen=True, slots=True)
class Item:
    """A name for the items of some lists, what can be read in one, and what derives the lists (of all their names)."""

    name: str
    kind: Type
    found: tuple[tuple[Place, Kind], ...]
    lists: Part
    tag: str
    light: bool
    """Whether no variable holds such a list yet: then less is offered of it."""


class Items:
    """The items of the lists at one point, and what can be read in one of them."""

    def __init__(self, calls: Calls, *, innermost: bool) -> None:
        self.calls, self.view, self.tag = calls, calls.view, calls.tag
        self._room = MOST_PAIRS if innermost else MOST_OUTER
        self._calls: dict[str, list[tuple[Callable, str]]] = {}
        self.every = list(self._items())

    def _items(self) -> Iterator[Item]:
        """The lists in scope, then those that a call gives; under several names each, as far as there is room."""
        own = {item: pattern(regex) for item, regex in self.view.lists.items() if item is not NEVER}
        called: dict[Type, list[Part]] = {}
        for known in self.calls.tools if len(self.calls.tools) <= MOST_CALLED else ():
            by_item: dict[Type, list[str]] = {}
            for place, kind in self.view.reader.read(known.result, frozenset()):
                if kind.name == "list" and not kind.nullable and place.steps <= 2:
                    by_item.setdefault(kind.item, []).append(place.suffix)
            for item, found in by_item.items():
                reached = any_of(suffix for suffix in found if suffix)
                after = maybe(pattern(reached)) if "" in found else pattern(reached)
                called.setdefault(item, []).append(row(self.calls.call(known), after))
        room = self._room
        every = [*own, *(item for item in called if item not in own)]
        for number, item in enumerate(every):
            share = min(2, max(1, room // (len(every) - number)))
            for name in self._names(item)[:share]:
                if room:
                    room -= 1
                    lists = self.calls.rules.rule(
                        f"{self.tag}i{number}_lists",
                        partial(either, own.get(item), *called.get(item, ())),
                    )
                    inside = tuple(self.view.reader.read(item, self.view.point.calm))
                    yield Item(name, item, inside, lists, f"{self.tag}i{number}_{name}_", item not in own)

    def _names(self, item: Type) -> list[str]:
        """What such an item may be called: as its list is, as the response calls it, and by a letter."""
        origin = next((m.origin for m in members(item) if isinstance(m, Record)), None)
        noun = _noun(origin) if origin is not None else "item"
        lists = (
            r.name for r in self.view.reads if r.kind.name == "list" and not r.place.suffix and r.kind.item == item
        )
        held = [one for name in lists if (one := singular(name.split("_")[-1])) != name]
        names = [*held[:1], noun, noun[:1], "x", "item"]
        taken = {*self.view.names, *self.calls.aliases, "id", "max", "min", "sum", "str", "int", "list", "set", "type"}
        return [name for name in dict.fromkeys(names) if name.isidentifier() and name not in taken]

    def read(self, item: Item, *names: str) -> str | None:
        """What is of one of these kinds in an item and is never None, the results of calls with it included."""
        own = self.below(item, *names)
        inside = [f"{item.name}{own}"] if own is not None else []
        return any_of([*inside, *self._fetched(item, names)])

    def below(self, item: Item, *names: str, nullable: bool = False, itself: bool = True) -> str | None:
        """The subscripts in an item to what is of one of these kinds."""
        return self.view.reader.below(item.kind, self.view.point.calm, *names, nullable=nullable, itself=itself)

    def perhaps(self, item: Item) -> str | None:
        """Numbers in what calls with an item give, those among them that may be None."""
        return any_of(self._fetched(item, ("int", "number"), nullable=True))

    def _fetched(self, item: Item, names: tuple[str, ...], *, nullable: bool = False) -> Iterator[str]:
        """Calls of tools with what an item holds."""
        for known, given in () if item.light else self._callable(item):
            after = self.view.reader.below(known.result, frozenset(), *names, nullable=nullable or not names)
            if after is not None:
                yield f"{known.tool.alias}\\({given}\\){after}"

    def _callable(self, item: Item) -> list[tuple[Callable, str]]:
        """The tools of which an item holds a required argument, with how they are called."""
        if item.tag not in self._calls:
            found = ((known, self._given(item, known)) for known in self.calls.tools)
            self._calls[item.tag] = [(known, given) for known, given in found if given is not None]
        return self._calls[item.tag]

    def _given(self, item: Item, known: Callable) -> str | None:
        """The required arguments of a call, of which one at least is in the item."""
        needed = [argument for argument in known.arguments if argument.required]
        own = [self._held(item, argument) for argument in needed]
        if not any(own):
            return None
        texts: list[str] = []
        for argument, held in zip(needed, own, strict=True):
            value = f"{item.name}{held}" if held is not None else self.calls.at_hand(argument)
            if value is None:
                return None
            texts.append(f"{argument.alias}={value}")
        return ", ".join(texts)

    def _held(self, item: Item, argument: Argument) -> str | None:
        """Where an item holds the value of an argument: by its links, else under the argument's own name."""
        linked = reach(place for place, _ in item.found if place.origin in argument.wanted.origins)
        if linked is not None:
            return linked
        named = key_step(argument.alias)
        return reach(
            place
            for place, kind in item.found
            if place.suffix in ("", named) and kind.name != "list" and self.calls.takes(argument, place, kind)
        )

    def whole(self, item: Item) -> str | None:
        """Anything of an item, None or not."""
        own = self.below(item, nullable=True)
        return any_of([f"{item.name}{own}", *self._fetched(item, ())])

    def ordered_by(self, item: Item) -> str | None:
        """What items can be compared by."""
        found = reach(p for p, kind in item.found if kind.name in ("int", "number", "str") and not kind.nullable)
        return None if found is None else f"{item.name}{found}"


def _noun(origin: Origin) -> str:
    """What an item of a response may be called: `player` for those of `players`, or of `list_players`."""
    key = next((step for step in reversed(origin.path) if step is not None), None) or origin.tool
    return singular(snake(key).split("_")[-1]) or "item"
