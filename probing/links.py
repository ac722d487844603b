"""Links: observed pairs of a response field and an argument that takes its values.

The method is that of the ATC paper, §4.2. Values are compared as text. Response fields with the
same name and the same kind of values form a source: for example all `player_id`s, whichever tools
return them. An argument takes its values from a source if it accepted a value of the source, and

- its name matches the name of the source (`airport` and `airports[].code`), or its description or a
  reply mentions the source; or
- the values are ids or codes, the argument refuses invented values, and it accepted two values of
  the source.

Every field of such a source is linked to the argument. Fields that only repeat an argument of their
own call belong to no source, and neither do page tokens. Search texts, limits and enums are not
linked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
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
from probing.samples import ArgumentValues, Sample, Value
from probing.tool_facts import ArgumentFacts, ToolFacts, says_something
from probing.value_pool import Pools, ValuePlace, words_about
from protocols.naming import NOT_LINKED, POSITIONS, VAGUE
from protocols.protocol import Link

_ENOUGH = 2
"""Number of values of one source that are tried for an argument."""


@dataclass
class LinkSource:
    """A group of response fields with the same name and kind of values: all `player_id`s.

    Arguments of other calls may take these values, so the group is a source of values.
    """

    name: NormalizedName
    places: list[ValuePlace] = field(default_factory=list)

    @cached_property
    def secret(self) -> bool:
        """True if the values are secrets. Only an argument for secrets may take them."""
        return self.name.secret or any(place.secret for place in self.places)

    @cached_property
    def texts(self) -> set[str]:
        """All values of the response fields in this group, as text."""
        return {text for place in self.places for text in place.values}

    @cached_property
    def ids(self) -> set[str]:
        """The values that look like ids or codes.

        Words are included as well, unless they are very common, if all fields of the source are
        elements of lists (`codes[]`).
        """
        listed = all(place.path.endswith("[]") for place in self.places)
        return {text for text in self.texts if is_id(text) or (listed and is_identifying(text))}


@dataclass
class ArgumentProfile:
    """An argument of a tool, with the values that it accepted and refused.

    The values are keyed by their text.
    """

    tool: ToolFacts
    argument: ArgumentFacts
    name: NormalizedName
    accepted_values: dict[str, Value] = field(default_factory=dict)
    """Values with which a call returned data."""
    refused: set[str] = field(default_factory=set)
    """Values that an error reply called invalid."""
    not_found_values: set[str] = field(default_factory=set)
    """Well-formed values for which the service found no record."""
    sent: set[str] = field(default_factory=set)
    """All values that were sent."""

    @cached_property
    def is_linkable(self) -> bool:
        """True if the argument can take a value from another tool's response.

        False for paging, limits, search text, booleans and enums.
        """
        own = self.name.own
        if re.match(r"(max|min)(imum)?(_|$)", own) or own in PAGING or self.name.is_search_text:
            return False
        # For a path argument, the values that a reply lists are those that another tool returns.
        if self.argument.declared.get("enum") or (
            self.argument.hints_of_kind("enum") and self.argument.place != "path"
        ):
            return False
        return not any(isinstance(value.value, bool) for value in self.accepted_values.values())

    @cached_property
    def has_telling_name(self) -> bool:
        """True if the name says what the value is: `airport_code`, but not `to` or `value`."""
        key = self.name.key
        return self.name.secret or (
            key not in NOT_LINKED | VAGUE and (self.name.is_identifier or len(key) >= 4)
        )

    def can_leak_secret(self, source: LinkSource) -> bool:
        """Return True if a source contains secrets, but the argument is not meant for secrets.

        A source is a group of response fields with the same name.
        """
        return source.secret and not self.name.secret

    def distance_to(self, source: LinkSource) -> float | None:
        """Return the distance between the names of the argument and of a source of values.

        A source is a group of response fields with the same name. The distance is 0 if the names
        are equal. Return None if the names do not match, if the argument's name does not say what
        its value is, or if the source contains secrets that the argument must not get.
        """
        usable = self.has_telling_name and not self.can_leak_secret(source)
        return distance(self.name, source.name, words_about(self.argument)) if usable else None


class Flows:
    """Finds the links between tools, and proposes calls that could confirm more of them.

    A link is a pair of a response field and an argument of another call that takes its values.
    """

    def __init__(self, facts: Mapping[str, ToolFacts], pools: Pools) -> None:
        self._pools = pools
        self._argument_profiles = [
            profile for profile in _argument_profiles(facts) if profile.is_linkable
        ]
        self._sources = list(_sources(pools))

    def links(self) -> dict[str, list[Link]]:
        """Return the confirmed links, keyed by the name of the tool that takes the value.

        The links of one argument are sorted, best first.
        """
        found: dict[str, list[Link]] = {}
        for profile in self._argument_profiles:
            ranked: dict[tuple[str, str], tuple[bool, int, bool]] = {}
            for source, named in self._find_sources(profile):
                for place in source.places:
                    accepted = sum(text in place.values for text in profile.accepted_values)
                    if place.tool != profile.tool.name:
                        ranked.setdefault(
                            (place.tool, place.path), (not named, -accepted, "[]" not in place.path)
                        )
            for tool, path in sorted(ranked, key=lambda place: (ranked[place], place)):
                link = Link(
                    argument=profile.argument.name, tool=tool, path=path, support="observed"
                )
                found.setdefault(profile.tool.name, []).append(link)
        return found

    def plan_tests(self) -> list[tuple[str, ArgumentValues]]:
        """Return calls, as (tool, arguments), that may confirm a link, the likeliest first.

        A link is a pair of a response field and an argument of another call that takes its values.
        """
        planned: list[tuple[int, str, ArgumentValues]] = []
        for profile in self._argument_profiles:
            if (base := _base_arguments(profile)) is not None:
                tried = enumerate(self._trials(profile, base))
                planned += [
                    (n, profile.tool.name, {**base, profile.argument.name: value})
                    for n, value in tried
                ]
        return [
            (tool, arguments) for _, tool, arguments in sorted(planned, key=lambda entry: entry[0])
        ]

    def _find_sources(self, profile: ArgumentProfile) -> list[tuple[LinkSource, bool]]:
        """Return the confirmed sources of an argument's values, as pairs (source, by_name).

        A source is a group of response fields with the same name. `by_name` is True if this name
        matches that of the argument, and False if only accepted values show that the argument takes
        values of the source. Sources with matching names come first.
        """
        named = [source for source in self._sources if self._is_confirmed(profile, source)]
        others = [
            source
            for source in self._sources
            if source not in named and self._is_confirmed_by_values(profile, source)
        ]
        return [*((source, True) for source in named), *((source, False) for source in others)]

    def _is_confirmed(self, profile: ArgumentProfile, source: LinkSource) -> bool:
        """Return True if an argument accepted values of a source, and their names match.

        If the names are only similar, one of the accepted values must be an id or code. A source is
        a group of response fields with the same name.
        """
        gap = profile.distance_to(source)
        accepted = profile.accepted_values.keys() & source.texts
        if gap is None or not accepted:
            return False
        of_ids = profile.name.is_identifier or source.name.is_identifier
        telling = any(map(is_identifying, accepted))
        if gap > NEAR or (gap > EQUAL and not of_ids):
            return telling
        if of_ids or profile.name.own in POSITIONS:
            return True
        return telling and not self._accepts_anything(profile)

    def _is_confirmed_by_values(self, profile: ArgumentProfile, source: LinkSource) -> bool:
        """Return True if an argument takes values of a source, judging by the values alone.

        A source is a group of response fields with the same name. This name need not match that of
        the argument. Instead, the tool must have accepted at least two ids from these fields as the
        argument, and must not have refused any of their values as invalid. An argument that accepts
        invented values proves nothing, and neither does one for which the tool finds no record for
        most of these values. A source of secrets counts only for an argument for secrets.
        """
        accepted = profile.accepted_values.keys() & source.ids
        if (
            len(accepted) < 2
            or profile.can_leak_secret(source)
            or source.texts & profile.refused
            or self._accepts_anything(profile)
        ):
            return False
        return len(profile.not_found_values & source.texts) <= len(accepted)

    def _accepts_anything(self, profile: ArgumentProfile) -> bool:
        """Return True if an argument accepted an invented value that no other tool returned.

        The values that such an argument accepts prove nothing.
        """
        for accepted in profile.accepted_values.values():
            if accepted.origin.kind in ("generated", "model"):
                tools = {place.tool for place in self._pools.places_holding(accepted.value)}
                if tools <= {profile.tool.name}:
                    return True
        return False

    def _trials(self, profile: ArgumentProfile, base: ArgumentValues) -> Iterator[Value]:
        """Yield values to try for an argument, at most one from each source that is not confirmed.

        A source is a group of response fields whose values the argument may take. `base` has the
        arguments of the call in which the value will be tried.
        """
        value_filter = ValueFilter(profile.tool, profile.argument)
        others = {
            url_text(value.value) for name, value in base.items() if name != profile.argument.name
        }
        for source in self._untested_sources(profile):
            if len(profile.sent & source.texts) >= _ENOUGH:
                continue
            for value in _values_of_others(source, profile.tool.name):
                text = url_text(value.value)
                if text in profile.sent or text in others:
                    continue
                adapted = value_filter.adapt(value)
                if adapted is not None:
                    yield adapted
                    break

    def _untested_sources(self, profile: ArgumentProfile) -> list[LinkSource]:
        """Return the sources that may suit an argument, the nearest name first.

        Sources that are confirmed already are left out. A source is a group of response fields with
        the same name.
        """
        is_known = any(is_identifying(value.value) for value in profile.accepted_values.values())
        confirmed = [source for source, _ in self._find_sources(profile)]
        ranked: list[tuple[float, str, LinkSource]] = []
        for source in self._sources:
            if source in confirmed or profile.can_leak_secret(source):
                continue
            gap = profile.distance_to(source)
            is_list = all(place.path.endswith("[]") for place in source.places)
            if gap is not None and not is_known:
                ranked.append((gap, source.name.key, source))
            elif profile.argument.place == "path" and is_list:
                ranked.append((10.0 if gap is None else gap, source.name.key, source))
        return [source for *_, source in sorted(ranked, key=lambda entry: entry[:2])]


def _values_of_others(source: LinkSource, tool: str) -> Iterator[Value]:
    """Yield the values of a source from all tools but `tool`, at most 60 for each field."""
    for place in source.places:
        if place.tool != tool:
            yield from islice(place.values.values(), 60)


def _argument_profiles(facts: Mapping[str, ToolFacts]) -> Iterator[ArgumentProfile]:
    """Yield for each argument of each tool which values it accepted and refused."""
    for tool in facts.values():
        for name, argument in tool.arguments.items():
            profile = ArgumentProfile(tool, argument, argument_name(tool.protocol, name))
            for sample in tool.samples:
                if name in sample.arguments:
                    _note_outcome(profile, sample, sample.arguments[name])
            profile.refused |= _texts(argument.refused) - profile.accepted_values.keys()
            profile.not_found_values |= _texts(argument.not_found) - profile.accepted_values.keys()
            yield profile


def _note_outcome(profile: ArgumentProfile, sample: Sample, value: Value) -> None:
    """Add the value that an argument had in one call to the argument's profile.

    If the value is a list, each of its elements is added.
    """
    returned_data = sample.done and (
        profile.tool.protocol.writes or says_something(sample.response)
    )
    for part in scalars(value.value):
        profile.sent.add(url_text(part))
        if returned_data:
            profile.accepted_values.setdefault(url_text(part), Value(part, value.origin))


def _texts(values: Iterable[Value]) -> set[str]:
    """Return all scalars in the values as a set of texts, each written as in a URL."""
    return {url_text(part) for value in values for part in scalars(value.value)}


def _sources(pools: Pools) -> Iterator[LinkSource]:
    """Yield the sources, that is, groups of response fields with the same name and kind of values.

    Page tokens are left out, and so are fields that only repeat an argument of their call.
    """
    found: dict[tuple[str, str], LinkSource] = {}
    for place in pools.places:
        if place.echoes or place.name.own in PAGING or not place.values:
            continue
        text = next(iter(place.values))
        number = re.fullmatch(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", text)
        look = "token" if len(text.split()) == 1 else "text"
        if number:
            look = "number"
        # A vague name such as `id` means something else in each tool.
        key = f"{place.tool} {place.name.key}" if place.name.key in VAGUE else place.name.key
        found.setdefault((key, look), LinkSource(place.name)).places.append(place)
    yield from found.values()


def _base_arguments(profile: ArgumentProfile) -> ArgumentValues | None:
    """Return the arguments of a successful call in which values for an argument can be tried.

    Calls that have this argument are preferred, and among these the one with the fewest arguments.
    If no call succeeded, return {} if the tool requires no other argument, and None if it does.
    """
    name = profile.argument.name
    tool = profile.tool
    done = sorted(
        tool.fruitful or tool.done,
        key=lambda sample: (name not in sample.arguments, len(sample.arguments), sample.number),
    )
    if done:
        return done[0].arguments
    required = {other for other, argument in tool.arguments.items() if argument.required}
    return None if required - {name} else {}
