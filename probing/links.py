"""Links: which arguments take values of which responses; observed, not guessed (ATC paper, §4.2).

Values are compared by their text. The places of one name that hold values of one look are one *source*: all
`player_id`s, from whichever tools. An argument takes from a source when it accepted a value that the source holds, and

- its name is that of the source (`airport` and `airports[].code`), or a reply or its description speaks of it; or
- whatever the names, the values are ids or codes, the argument does not take what was made up, and it accepted two
  values that the source holds.

Every place of a source is a link. Values that only repeat an argument of their own call are no source, nor are pages,
searches and lists of choices.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from probing.candidates import ValueFilter
from probing.name_distance import (
    EQUAL,
    NEAR,
    PAGING,
    NormalizedName,
    argument_name,
    distance,
    is_id,
    is_identifying,
    scalars,
    url_text,
)
from probing.samples import ArgumentValues, Value
from probing.tool_facts import ArgumentFacts, ToolFacts, says_something
from probing.value_pool import Pools, ValuePlace, words_about
from protocols.naming import NOT_LINKED, POSITIONS, VAGUE
from protocols.protocol import Link

_ENOUGH = 2
"""Values of one source that are tried on an argument."""


@dataclass
class LinkSource:
    """The places of one name that hold values of one look: a thing's ids, from whichever tools."""

    name: NormalizedName
    places: list[ValuePlace] = field(default_factory=list)

    @cached_property
    def secret(self) -> bool:
        """Whether its values are secrets, which only arguments that are such may take."""
        return self.name.secret or any(place.secret for place in self.places)

    @cached_property
    def texts(self) -> set[str]:
        """All values."""
        return {text for place in self.places for text in place.values}

    @cached_property
    def ids(self) -> set[str]:
        """Those of its values that are ids or codes by their look, whatever their names."""
        listed = all(
            place.path.endswith("[]") for place in self.places
        )  # of a list of words each names something
        return {text for text in self.texts if is_id(text) or (listed and is_identifying(text))}


@dataclass
class ArgumentProfile:
    """An argument and the fate of each different value (by its text) that it was given.

    `took`: the tool answered, and its answer held something. `refused`: a reply said that the value is wrong. `missed`:
    it led nowhere. `sent` are all of them.
    """

    tool: ToolFacts
    argument: ArgumentFacts
    name: NormalizedName
    accepted_values: dict[str, Value] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    not_found_values: set[str] = field(default_factory=set)
    sent: set[str] = field(default_factory=set)

    @cached_property
    def is_linkable(self) -> bool:
        """Whether its values may come from other responses: it is no page, bound, search text, switch or choice."""
        own = self.name.own
        looked_up = (
            self.argument.place == "path"
        )  # a list that a reply quotes is what another tool lists
        chosen = self.argument.declared.get("enum") or (
            self.argument.told("enum") and not looked_up
        )
        if (
            re.match(r"(max|min)(imum)?(_|$)", own)
            or self.name.is_search_text
            or own in PAGING
            or chosen
        ):
            return False
        return not any(isinstance(held.value, bool) for held in self.accepted_values.values())

    @cached_property
    def has_telling_name(self) -> bool:
        """Whether its name says of what it is the value: `airport_code`, `tail_number`; not `to` or `value`."""
        key = self.name.key
        return self.name.secret or (
            key not in NOT_LINKED | VAGUE and (self.name.is_identifier or len(key) >= 4)
        )

    def can_leak_secret(self, source: LinkSource) -> bool:
        """Whether a source holds secrets and the argument is none."""
        return source.secret and not self.name.secret

    def distance_to(self, source: LinkSource) -> float | None:
        """How far its name and that of a source are apart; None where they do not agree, or tell nothing."""
        usable = self.has_telling_name and not self.can_leak_secret(source)
        return distance(self.name, source.name, words_about(self.argument)) if usable else None


class Flows:
    """The facts about arguments and sources, and what follows from them."""

    def __init__(self, facts: Mapping[str, ToolFacts], pools: Pools) -> None:
        self._pools = pools
        self._argument_profiles = [
            taker for taker in _argument_profiles(facts) if taker.is_linkable
        ]
        self._sources = list(_sources(pools))

    def links(self) -> dict[str, list[Link]]:
        """The links that follow from all samples, by the tool that takes the value; of one argument the best first."""
        found: dict[str, list[Link]] = {}
        for taker in self._argument_profiles:
            ranked: dict[tuple[str, str], tuple[bool, int, bool]] = {}
            for source, named in self._find_sources(taker):
                for place in source.places:
                    held = sum(text in place.values for text in taker.accepted_values)
                    if place.tool != taker.tool.name:
                        ranked.setdefault(
                            (place.tool, place.path), (not named, -held, "[]" not in place.path)
                        )
            for tool, path in sorted(ranked, key=lambda place: (ranked[place], place)):
                link = Link(argument=taker.argument.name, tool=tool, path=path, support="observed")
                found.setdefault(taker.tool.name, []).append(link)
        return found

    def plan_tests(self) -> list[tuple[str, ArgumentValues]]:
        """Calls worth making to confirm links that names suggest, the likeliest first."""
        planned: list[tuple[int, str, ArgumentValues]] = []
        for taker in self._argument_profiles:
            if (base := _base_arguments(taker)) is not None:
                tried = enumerate(self._trials(taker, base))
                planned += [
                    (n, taker.tool.name, {**base, taker.argument.name: value}) for n, value in tried
                ]
        return [
            (tool, arguments) for _, tool, arguments in sorted(planned, key=lambda entry: entry[0])
        ]

    def _find_sources(self, taker: ArgumentProfile) -> list[tuple[LinkSource, bool]]:
        """The sources that feed an argument, each with whether its name tells so; those of its name first."""
        named = [source for source in self._sources if self._is_confirmed(taker, source)]
        others = [
            source
            for source in self._sources
            if source not in named and self._is_confirmed_by_values(taker, source)
        ]
        return [*((source, True) for source in named), *((source, False) for source in others)]

    def _is_confirmed(self, taker: ArgumentProfile, source: LinkSource) -> bool:
        """Whether names agree, and values do not speak against it."""
        apart = taker.distance_to(source)
        accepted = taker.accepted_values.keys() & source.texts
        if apart is None or not accepted:
            return False
        of_ids = taker.name.is_identifier or source.name.is_identifier
        telling = any(map(is_identifying, accepted))
        if apart > NEAR or (apart > EQUAL and not of_ids):
            return telling
        if of_ids or taker.name.own in POSITIONS:
            return True
        return telling and not self._accepts_anything(taker)

    def _is_confirmed_by_values(self, taker: ArgumentProfile, source: LinkSource) -> bool:
        accepted = taker.accepted_values.keys() & source.ids
        if (
            len(accepted) < 2
            or taker.can_leak_secret(source)
            or source.texts & taker.refused
            or self._accepts_anything(taker)
        ):
            return False
        return len(taker.not_found_values & source.texts) <= len(accepted)

    def _accepts_anything(self, taker: ArgumentProfile) -> bool:
        """Whether an argument accepted a made-up value that no other tool's response holds."""
        made = (
            v.value
            for v in taker.accepted_values.values()
            if v.origin.kind in ("generated", "model")
        )
        return any(
            all(place.tool == taker.tool.name for place in self._pools.places_holding(value))
            for value in made
        )

    def _trials(self, taker: ArgumentProfile, base: ArgumentValues) -> Iterator[Value]:
        """Values to try on one argument: of sources that may feed it by their names, nearest first, then of lists."""
        sure = any(is_identifying(held.value) for held in taker.accepted_values.values())
        fits = ValueFilter(taker.tool, taker.argument)
        known = [source for source, _ in self._find_sources(taker)]
        beside = {
            url_text(held.value) for name, held in base.items() if name != taker.argument.name
        }
        open_: list[tuple[float, str, LinkSource]] = []
        for source in self._sources:
            apart = taker.distance_to(source)
            listed = taker.argument.place == "path" and all(
                place.path.endswith("[]") for place in source.places
            )
            if (
                (listed or (apart is not None and not sure))
                and source not in known
                and not taker.can_leak_secret(source)
            ):
                open_.append((10.0 if apart is None else apart, source.name.key, source))
        for *_, source in sorted(open_, key=lambda entry: entry[:2]):
            places = [place for place in source.places if place.tool != taker.tool.name]
            held = [value for place in places for value in islice(place.values.values(), 60)]
            new = (
                v
                for v in held
                if (text := url_text(v.value)) not in taker.sent and text not in beside
            )
            value = next((value for value in map(fits.adapt, new) if value is not None), None)
            if value is not None and len(taker.sent & source.texts) < _ENOUGH:
                yield value


def _argument_profiles(facts: Mapping[str, ToolFacts]) -> Iterator[ArgumentProfile]:
    """All arguments that were given to a tool, or may be, with what came of it."""
    for tool in facts.values():
        for name, argument in tool.arguments.items():
            taker = ArgumentProfile(tool, argument, argument_name(tool.protocol, name))
            for sample in tool.samples:
                full = sample.done and (tool.protocol.writes or says_something(sample.response))
                for value in (
                    scalars(sample.arguments[name].value) if name in sample.arguments else ()
                ):
                    held = Value(value, sample.arguments[name].origin)
                    taker.sent.add(url_text(value))
                    if full:
                        taker.accepted_values.setdefault(url_text(value), held)
            for fate, values in (
                (taker.refused, argument.refused),
                (taker.not_found_values, argument.not_found),
            ):
                fate |= {
                    url_text(part) for value in values for part in scalars(value.value)
                } - taker.accepted_values.keys()
            yield taker


def _sources(pools: Pools) -> Iterator[LinkSource]:
    """The places whose values another call may take: no pages, no echoes of the call's own arguments."""
    found: dict[tuple[str, str], LinkSource] = {}
    for place in pools.places:
        if place.echoes or place.name.own in PAGING or not place.values:
            continue
        text = next(iter(place.values))
        number = re.fullmatch(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", text)
        look = "number" if number else "text" if len(text.split()) != 1 else "token"
        key = f"{place.tool} {place.name.key}" if place.name.key in VAGUE else place.name.key
        # an `id` under no noun is of something else in each tool
        found.setdefault((key, look), LinkSource(place.name)).places.append(place)
    yield from found.values()


def _base_arguments(taker: ArgumentProfile) -> ArgumentValues | None:
    """The arguments of the call that is done with fewest; None where none is, and one argument is not enough."""
    name = taker.argument.name
    tool = taker.tool
    done = sorted(
        tool.fruitful or tool.done,
        key=lambda s: (name not in s.arguments, len(s.arguments), s.number),
    )
    if done:
        return done[0].arguments
    return (
        None
        if {other for other, argument in tool.arguments.items() if argument.required} - {name}
        else {}
    )
