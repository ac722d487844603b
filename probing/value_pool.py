"""Collects the values that tools returned and accepted, and ranks them for an argument.

The ranking follows §4 of the ATC paper. A smaller distance means that a value suits better.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, zip_longest

from probing.generated_values import guess_values
from probing.name_distance import (
    EQUAL,
    PAGING,
    NormalizedName,
    argument_name,
    distance,
    field_name,
    is_identifying,
    scalars,
    url_text,
    words_in,
)
from probing.response_values import (
    ResponseRecord,
    collect_records,
    harvest,
    response_origin,
)
from probing.samples import Sample, Value
from probing.tool_facts import ArgumentFacts, says_something
from protocols.effects import likely_action
from protocols.naming import VAGUE
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.schema import Json

MOST_CANDIDATES = 60
"""Maximum number of values that are considered for one argument."""
_MOST_VALUES = 500
"""Maximum number of values that are stored for one response path or argument."""
_KNOWN = 0.5
"""Distance of a response field that is named differently, but contains a value that is known to be
good for the argument."""
_LISTED = 2.0
"""Distance of a field that is a list of scalars, for an argument in the URL path."""
_ANY = 3.6
"""Distance of a field with ids of any kind of record, for an argument that is named like an id or
is in the URL path."""
_LAST = 4.2
"""Distance of a field with ids of any kind of record, for any other argument."""
_STRANGERS_TRIED = 2
"""Maximum number of values that are tried from response fields without a matching name."""


@dataclass(eq=False)
class ValuePlace:
    """The different values of one field in a tool's responses, or of one argument in its calls."""

    tool: str
    path: str
    """The response path of the field, or the name of the argument in parentheses."""
    name: NormalizedName
    argument: bool = False
    """True if the values are those of an argument."""
    values: dict[str, Value] = field(default_factory=dict)
    """The values in the order in which they occurred, keyed by their text."""
    echoes: bool = True
    """True as long as every value only repeated an argument of the call that returned it."""
    secret: bool = False
    """True if any value was a secret."""

    def keep(
        self, value: Value, text: str, *, secret: bool = False, sent: Collection[str] = ()
    ) -> None:
        """Add a value.

        Args:
            value: the value with its origin.
            text: the value as text.
            secret: True if the value is a secret.
            sent: the arguments of the call, as texts in lower case.
        """
        self.secret = self.secret or secret
        self.echoes = self.echoes and text.lower() in sent
        if len(self.values) < _MOST_VALUES and text not in self.values:
            self.values[text] = value


class Pools:
    """All values that tools have returned or accepted so far.

    They are grouped by response field and by argument. `records` are the objects in the responses.
    """

    def __init__(self, protocols: Iterable[ToolProtocol]) -> None:
        self.protocols: Mapping[str, ToolProtocol] = {
            protocol.name: protocol for protocol in protocols
        }
        self._places: dict[tuple[str, str], ValuePlace] = {}
        self._where: dict[str, dict[ValuePlace, None]] = {}
        self._by_name: dict[NormalizedName, list[ValuePlace]] = {}
        self._below: dict[str, dict[str, Value]] = {}
        self.records: list[ResponseRecord] = []

    @property
    def places(self) -> list[ValuePlace]:
        """The values in responses, grouped by the response field in which they occurred."""
        return [place for place in self._places.values() if not place.argument]

    def add(self, sample: Sample) -> None:
        """Add the values in the response of a successful call, and those in its arguments."""
        protocol = self.protocols.get(sample.tool)
        if not sample.done or protocol is None:
            return
        is_http_read = isinstance(protocol.binding, HttpBinding) and not protocol.writes
        below = self._below.setdefault(_parent_url(protocol), {}) if is_http_read else {}
        self._add_response(protocol, sample, below)
        around = {(sample.tool, f"({name})"): value for name, value in sample.arguments.items()}
        records: list[ResponseRecord] = []
        if is_http_read and all(value.origin.path == "{}" for value in below.values()):
            records += self._add_keys(sample, below, around)
        # A created record may be asked for by its arguments, even if the response was empty.
        is_useful = says_something(sample.response) or likely_action(protocol)[0] == "create"
        if is_useful and sample.purpose != "refuse":
            self._add_arguments(protocol, sample)
        collect_records(sample.response, "", around, sample, records)
        self.records += records

    def _add_response(
        self, protocol: ToolProtocol, sample: Sample, below: dict[str, Value]
    ) -> None:
        """Add the scalars in a response.

        If the response is a list of names, they are added to `below` as well. It contains values
        that may follow the called URL as a segment: `/parts` returns `cpu`, so try `/parts/cpu`.
        """
        sent: set[str] = set()
        invented: set[str] = set()
        for argument in sample.arguments.values():
            texts = [url_text(part) for part in scalars(argument.value)]
            sent.update(text.lower() for text in texts)
            if argument.is_generated:
                invented.update(texts)
        for path, value, secret in harvest(sample.response, protocol.output_schema):
            if isinstance(value, str) and value in invented:
                continue  # an invented value that the response repeats is no evidence
            place = self._place(protocol, path)
            text = url_text(value)
            kept = Value(value, response_origin(sample, path))
            place.keep(kept, text, secret=secret, sent=sent)
            self._where.setdefault(text, {})[place] = None
            is_name = path.endswith("[]") or place.name.own in VAGUE
            if path.count("[]") == 1 and is_name and not secret:
                below.setdefault(text, kept)

    def _add_keys(
        self,
        sample: Sample,
        below: dict[str, Value],
        around: Mapping[tuple[str, str], Value],
    ) -> list[ResponseRecord]:
        """Add the keys of a response to `below`: values that may follow the URL as a segment.

        Return a record for each of the first 20 keys, or [] if the response is not an object.
        `around` has the arguments of the call, which become a part of each record.
        """
        if not isinstance(sample.response, Mapping):
            return []
        keys = {
            key: Value(key, response_origin(sample, "{}"))
            for key in islice(map(str, sample.response), 100)
        }
        below |= keys
        return [
            ResponseRecord(sample.number, {**around, (sample.tool, "{}"): key})
            for key in islice(keys.values(), 20)
        ]

    def _add_arguments(self, protocol: ToolProtocol, sample: Sample) -> None:
        """Add the arguments of a successful call. They are values that the tool accepted."""
        for name, argument in sample.arguments.items():
            path = f"({name})"
            place = self._place(protocol, path, argument=name)
            for part in scalars(argument.value):
                place.keep(Value(part, response_origin(sample, path)), url_text(part))

    def rank_values(
        self, protocol: ToolProtocol, argument: ArgumentFacts
    ) -> list[tuple[float, Value]]:
        """Return values that may suit an argument as (distance, value), smallest distance first.

        Values come from response fields. Of the fields with the same name, the first value gets the
        distance between this name and the argument's name (0 if equal). The distance of each
        further value is greater by 0.75.
        """
        name = argument_name(protocol, argument.name)
        found = list[tuple[float, Value]]()
        for apart, group in self._groups(protocol, argument, name):
            ordered = [
                heapq.nlargest(MOST_CANDIDATES, place.values.values(), key=self.popularity)
                for place in sorted(group, key=lambda place: not place.argument)
            ]
            row = [value for row in zip_longest(*ordered) for value in row if value is not None]
            # Of equal values the first is kept, at the position of the last.
            unique = {url_text(value.value): value for value in reversed(row)}
            ranked = enumerate(reversed(unique.values()))
            found += [(apart + 0.75 * n, value) for n, value in ranked]
        return sorted(found, key=lambda pair: pair[0])

    def values_above(self, protocol: ToolProtocol, argument: ArgumentFacts) -> list[Value]:
        """Return values for the last segment of a tool's URL, taken from the parent URL's response.

        For example, the argument `part` is the last segment of `/parts/{part}`. If the response of
        `/parts` is `{"cpu": …}` or `[{"name": "cpu"}]`, then `cpu` is such a value. Return an empty
        list if `argument` is not the last segment of the URL of the tool (`protocol`).
        """
        if not isinstance(protocol.binding, HttpBinding):
            return []
        above, _, step = protocol.binding.url.rstrip("/").rpartition("/")
        own = step == f"{{{protocol.binding.wire_names.get(argument.name, argument.name)}}}"
        return list(self._below.get(above, {}).values()) if own else []

    def places_holding(self, value: Json) -> Collection[ValuePlace]:
        """Return the response fields that contained a value. `5` and `"5"` are equal."""
        return self._where.get(url_text(value), {}).keys()

    def popularity(self, value: Value) -> int:
        """Return the number of response fields that contain a value.

        Fields that only repeat arguments do not count. A value that occurs in many fields is more
        likely to be known to other tools.
        """
        return sum(not place.echoes for place in self.places_holding(value.value))

    def _groups(
        self, protocol: ToolProtocol, argument: ArgumentFacts, wanted: NormalizedName
    ) -> list[tuple[float, list[ValuePlace]]]:
        """Return groups of equally named fields with their distance to an argument, nearest first.

        A field whose name does not match that of the argument is included if it contains a value
        that is known to be good for the argument. As long as no such value is known, fields with
        ids are included as well. For an argument in the URL path, lists of scalars are included,
        too.
        """
        search = _Search.of(argument, wanted)
        words = words_about(argument)
        groups: dict[tuple[str, bool, float], tuple[float, list[ValuePlace]]] = {}
        for name, places in self._by_name.items():
            by_name = distance(wanted, name, words)
            if by_name is None and not search.admits_stranger(name):
                continue
            for place in places if by_name is not None else places[:2]:
                away = search.distance_of_stranger(place) if by_name is None else by_name
                is_own = place.argument and place.tool == protocol.name
                if away is not None and not is_own and search.admits(place, away):
                    key = (name.key, place.argument, round(away, 1))
                    groups.setdefault(key, (away, []))[1].append(place)
        return sorted(groups.values(), key=lambda pair: pair[0])

    def _place(self, protocol: ToolProtocol, path: str, *, argument: str = "") -> ValuePlace:
        """Return the `ValuePlace` that collects the values of a response path or of an argument.

        It is that of an argument if the argument's name is given. It is created if it does not
        exist.
        """
        key = (protocol.name, path)
        place = self._places.get(key)
        if place is None:
            name = argument_name(protocol, argument) if argument else field_name(protocol, path)
            place = self._places[key] = ValuePlace(*key, name, argument=bool(argument))
            self._by_name.setdefault(name, []).append(place)
        return place


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """The criteria that select the response fields whose values may suit a certain argument."""

    wanted: NormalizedName
    """The name of the argument."""
    in_path: bool
    """True if the argument is in the URL path."""
    telling: frozenset[str]
    """Distinctive values, as text, that are known to be good for the argument."""
    needs_strangers: bool
    """True if no value is known to be good and none can be guessed, so ids from fields with other
    names are tried as well."""

    @classmethod
    def of(cls, argument: ArgumentFacts, wanted: NormalizedName) -> _Search:
        """Return the criteria that select response fields for the argument named `wanted`."""
        good = [part for value in good_values(argument) for part in scalars(value)]
        failed = (*argument.refused, *argument.not_found)
        tried = sum(value.origin.kind == "response" for value in failed)
        is_unguessable = wanted.is_identifier or not guess_values(argument.name)
        return cls(
            wanted=wanted,
            in_path=argument.place == "path",
            telling=frozenset(url_text(part) for part in good if is_identifying(part)),
            needs_strangers=not good and tried < _STRANGERS_TRIED and is_unguessable,
        )

    def admits_stranger(self, name: NormalizedName) -> bool:
        """Return True if a field with this name may be used although the argument has another name.

        Such a field is called a "stranger".
        """
        if self.wanted.is_search_text or self.wanted.secret:
            return False
        if self.wanted.own in PAGING or name.own in PAGING:
            return False
        return self.needs_strangers or bool(self.telling)

    def distance_of_stranger(self, place: ValuePlace) -> float | None:
        """Return how well a field suits the argument, as a distance, if their names do not match.

        Such a field is called a "stranger". A smaller distance is better. Return None if the field
        is unsuitable.
        """
        if place.argument:
            return None
        if not self.telling.isdisjoint(place.values):
            return _KNOWN
        if not self.needs_strangers:
            return None
        if self.in_path and place.path.endswith("[]") and len(place.values) > 1:
            return _LISTED
        if place.name.is_identifier:
            return _ANY if self.wanted.is_identifier or self.in_path else _LAST
        return None

    def admits(self, place: ValuePlace, far: float) -> bool:
        """Return True if the values of a field may be used for the argument.

        `far` is the distance between the field and the argument. Secrets may be used only for an
        argument that takes secrets. A paging argument takes only values that an argument of the
        same name had in calls of another tool.
        """
        if (place.name.secret or place.secret) and not self.wanted.secret:
            return False
        return self.wanted.own not in PAGING or (far == EQUAL and place.argument)


def _parent_url(protocol: ToolProtocol) -> str:
    return protocol.binding.url.rstrip("/") if isinstance(protocol.binding, HttpBinding) else ""


def words_about(argument: ArgumentFacts) -> frozenset[str]:
    """Return the words in an argument's description and in error replies about the argument.

    Each word is in the singular and in lower case.
    """
    texts = [str(argument.declared.get(key, "")) for key in ("title", "description")]
    return words_in((*texts, *(hint.text for hint in argument.hints)))


def good_values(argument: ArgumentFacts) -> Iterator[Json]:
    """Yield the values of an argument that worked in a call, or that are documented to be valid."""
    yield from (one.value for one in argument.accepted)
    yield from (value for h in argument.hints if h.kind == "enum" for value in h.values)
    for key in ("examples", "enum"):
        yield from values if isinstance(values := argument.declared.get(key), list) else ()
    yield from (
        argument.declared[key]
        for key in ("example", "default", "const")
        if key in argument.declared
    )
