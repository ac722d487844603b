"""What each argument took and refused, and which places of other tools' responses hold those values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from probing.facts import ArgumentFacts, ToolFacts, says_something
from probing.naming import PAGING, Name, argument_name
from probing.pools import Place, Pools
from probing.pools.dates import is_date
from probing.pools.harvest import followable
from probing.pools.place import scalars
from probing.sample import Sample, Value
from probing.shape import is_id, look, text_of
from protocols.jsontypes import Json
from protocols.vocabulary import NOT_LINKED, VAGUE

_BOUNDS = frozenset({"max", "maximum", "min", "minimum"})


@dataclass
class Taker:
    """An argument and the fate of each different value (by its text) that it was given.

    `took`: the tool answered, and its answer held something. `refused`: a reply said that the value is wrong. `missed`:
    it led nowhere, or gave an empty answer where another value, all else equal, gave a full one; with several arguments
    that may be for want of a thing that has them all.
    """

    tool: ToolFacts
    argument: ArgumentFacts
    name: Name
    took: dict[str, Value] = field(default_factory=dict)
    refused: dict[str, Value] = field(default_factory=dict)
    missed: dict[str, Value] = field(default_factory=dict)
    sent: dict[str, list[Value]] = field(default_factory=dict)
    """Every value that was sent, whatever came of it."""

    @property
    def linkable(self) -> bool:
        """Whether its values may come from other responses: it is no page, bound, search text, switch, date, choice."""
        own = self.name.own
        bound = own.split("_")[0] in _BOUNDS
        if bound or self.name.searches or own in PAGING or is_date(self.argument) or _chosen(self.argument):
            return False
        return not any(isinstance(held.value, bool) for held in self.took.values())

    @property
    def named(self) -> bool:
        """Whether its name says of what it is the value: `airport_code`, `tail_number`; not `to` or `value`."""
        return self.name.secret or (
            self.name.key not in NOT_LINKED | VAGUE and (self.name.identifies or len(self.name.key) >= 4)
        )


@dataclass
class Source:
    """The places of one name that hold values of one look: a thing's ids, from whichever tools."""

    name: Name
    places: list[Place] = field(default_factory=list)

    @property
    def secret(self) -> bool:
        """Whether its values are secrets, which only arguments that are such may take."""
        return self.name.secret or any(place.secret for place in self.places)

    @cached_property
    def texts(self) -> frozenset[str]:
        """All values."""
        return frozenset(text for place in self.places for text in place.values)

    @cached_property
    def ids(self) -> frozenset[str]:
        """Those of its values that are ids or codes by their look, whatever their names."""
        return frozenset(filter(is_id, self.texts))

    @cached_property
    def addresses(self) -> frozenset[tuple[str, str]]:
        """Tool and path of each place."""
        return frozenset((place.tool, place.path) for place in self.places)

    @cached_property
    def models(self) -> tuple[Json, ...]:
        """Some values of each place."""
        return tuple(held.value for place in self.places for held in islice(place.values.values(), 3))

    def holds(self, texts: Iterable[str]) -> set[str]:
        """Those of `texts` that it holds."""
        return {text for text in texts if text in self.texts}

    def gave(self, value: Value) -> bool:
        """Whether a value came from one of its places."""
        return value.origin.kind == "response" and (value.origin.tool, value.origin.path) in self.addresses


def takers(facts: Mapping[str, ToolFacts]) -> Iterator[Taker]:
    """All arguments that were given to a tool, or may be, with what came of it."""
    for tool in facts.values():
        for argument in tool.arguments.values():
            taker = Taker(tool, argument, argument_name(tool.protocol, argument.name))
            _judge(taker)
            yield taker


def sources(pools: Pools) -> list[Source]:
    """The places whose values another call may take: no pages, no echoes of the call's own arguments."""
    found: dict[str, list[tuple[set[str], list[Place]]]] = {}
    for place in pools.places:
        if place.echoes or place.name.own in PAGING or not followable(place.path):
            continue
        looks = {look(held.value) for held in islice(place.values.values(), 8)} - {""}
        # An `id` under no noun is of something else in each tool.
        same = found.setdefault(f"{place.tool} {place.name.key}" if place.name.key in VAGUE else place.name.key, [])
        home = next((one for one in same if one[0] & looks), None)
        if home is None:
            same.append(home := (set(), []))
        home[0].update(looks)
        home[1].append(place)
    return [Source(places[0].name, places) for same in found.values() for _, places in same]


def _judge(taker: Taker) -> None:
    name = taker.argument.name
    full: list[Sample] = []
    empty: list[Sample] = []
    for sample in taker.tool.done:
        if name in sample.arguments:
            (full if taker.tool.protocol.writes or says_something(sample.response) else empty).append(sample)
    for sample in full:
        taker.took.update(_texts(sample.arguments[name]))
    for held in taker.argument.refused:
        taker.refused.update(_texts(held))
    for held in taker.argument.not_found:
        taker.missed.update(_texts(held))
    for sample in empty:
        if any(_others(sample, name) == _others(other, name) for other in full):
            taker.missed.update(_texts(sample.arguments[name]))
    for text in taker.took:
        taker.refused.pop(text, None)
        taker.missed.pop(text, None)
    for sample in taker.tool.samples:
        for text, value in _texts(sample.arguments[name]) if name in sample.arguments else ():
            taker.sent.setdefault(text, []).append(value)


def _chosen(argument: ArgumentFacts) -> bool:
    """Whether a document or a reply lists all values: then one is chosen, none is looked up."""
    return bool(argument.declared.get("enum")) or any(hint.kind == "enum" for hint in argument.hints)


def _texts(held: Value) -> Iterator[tuple[str, Value]]:
    return ((text_of(value), Value(value, held.origin)) for value in scalars(held.value))


def _others(sample: Sample, name: str) -> dict[str, object]:
    return {other: value for other, value in sample.plain.items() if other != name}
