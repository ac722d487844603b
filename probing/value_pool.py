"""Values that tools gave and took, by place, and how near each place is to an argument that wants
values (ATC, §4).
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from typing import Any

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
from probing.samples import Sample, Value, ValueOrigin
from probing.tool_facts import ArgumentFacts, says_something
from protocols.effects import likely_action
from protocols.naming import VAGUE
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.schema import Json, JsonObject
from protocols.secrets import replace_secrets

MOST_CANDIDATES = 60
"""Values of one argument that are looked at."""
_DEEPEST = 8
_LONGEST_LIST = 100
_MOST = 4_000
_LONGEST_TEXT = 2_000
_MOST_VALUES = 500
"""What is looked at of a response: levels, elements of a list, scalars, characters of one; values
kept of a place."""
_KNOWN = 0.5
_LISTED = 2.0
_ANY = 3.6
_LAST = 4.2
"""Distances of places without a name in common: they hold a value known to be good; a list's
scalars, for a path; ids of any kind, for an argument that is one, or for any other."""
_STRANGERS_TRIED = 2
_FIELD = re.compile(r"[A-Za-z_$@][\w $@/-]*")
"""Keys that name a field; others are data."""


@dataclass(eq=False)
class ValuePlace:
    """The different values of one path of one tool's responses, or of one argument with which it
    answered.

    `values` are by their text, in the order in which they came. `echoes` while every value was also
    an argument of the very call. `secret` where any was judged so.
    """

    tool: str
    path: str
    name: NormalizedName
    argument: bool = False
    values: dict[str, Value] = field(default_factory=dict)
    echoes: bool = True
    secret: bool = False

    def keep(
        self, value: Value, text: str, *, secret: bool = False, sent: Collection[str] = ()
    ) -> None:
        """Take in one value and its text; `sent` are the texts of the call's arguments, in small
        letters.
        """
        self.secret = self.secret or secret
        self.echoes = self.echoes and text.lower() in sent
        if len(self.values) < _MOST_VALUES and text not in self.values:
            self.values[text] = value


def harvest(response: Json, schema: JsonObject | None = None) -> Iterator[tuple[str, Json, bool]]:
    """Path (`airports[].code`), value and whether it is a secret, of each scalar; bounded in depth
    and number.
    """
    marked = replace_secrets(response, schema, lambda secret: (secret,))  # JSON has no tuples
    return islice(_walk(marked, "", _DEEPEST), _MOST)


def _walk(node: Any, path: str, depth: int) -> Iterator[tuple[str, Json, bool]]:
    if isinstance(node, tuple):
        yield path, node[0], True
    elif isinstance(node, Mapping):
        for key, part in islice(node.items(), 50) if depth else ():
            if _FIELD.fullmatch(key):
                yield from _walk(part, f"{path}.{key}".lstrip("."), depth - 1)
    elif isinstance(node, list):
        for part in node[:_LONGEST_LIST] if depth else ():
            yield from _walk(part, f"{path}[]", depth - 1)
    elif node is not None and not (isinstance(node, str) and len(node) > _LONGEST_TEXT):
        yield path, node, False


class Pools:
    """All values of the responses so far, each with the place that it came from."""

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
        """The places in responses."""
        return [place for place in self._places.values() if not place.argument]

    def add(self, sample: Sample) -> None:
        """Take the values of a call that is done; of each call once."""
        protocol = self.protocols.get(sample.tool)
        if not sample.done or protocol is None:
            return
        given = [
            (value, part) for value in sample.arguments.values() for part in scalars(value.value)
        ]
        sent = {url_text(part).lower() for _, part in given}
        invented = {url_text(part) for value, part in given if value.is_generated}
        read = (
            protocol.binding
            if isinstance(protocol.binding, HttpBinding) and not protocol.writes
            else None
        )
        below = self._below.setdefault(read.url.rstrip("/"), {}) if read else {}
        for path, value, secret in harvest(sample.response, protocol.output_schema):
            if not (
                isinstance(value, str) and value in invented
            ):  # what was made up is nobody's where it comes back
                place = self._place(protocol, path)
                text = url_text(value)
                held = Value(value, _origin(sample, path))
                place.keep(held, text, secret=secret, sent=sent)
                self._where.setdefault(text, {})[place] = None
                if (
                    path.count("[]") == 1
                    and (path.endswith("[]") or place.name.own in VAGUE)
                    and not secret
                ):
                    below.setdefault(text, held)
        around = {(sample.tool, f"({n})"): value for n, value in sample.arguments.items()}
        found = list[ResponseRecord]()
        if (
            read
            and isinstance(sample.response, Mapping)
            and all(held.origin.path == "{}" for held in below.values())
        ):
            keys = {
                key: Value(key, _origin(sample, "{}"))
                for key in islice(map(str, sample.response), 100)
            }
            below |= keys
            found = [
                ResponseRecord(sample.number, {**around, (sample.tool, "{}"): key})
                for key in islice(keys.values(), 20)
            ]
        # What a tool made may be asked for by what it was given, although it answered nothing.
        told = says_something(sample.response) or likely_action(protocol)[0] == "create"
        for name, argument in (
            sample.arguments.items() if told and sample.purpose != "refuse" else ()
        ):
            for part in scalars(argument.value):
                path = f"({name})"
                self._place(protocol, path, argument=name).keep(
                    Value(part, _origin(sample, path)), url_text(part)
                )
        _collect(sample.response, "", around, sample, found)
        self.records += found

    def rank_values(
        self, protocol: ToolProtocol, argument: ArgumentFacts
    ) -> list[tuple[float, Value]]:
        """Values that may suit an argument with how far each is from a sure one: 0 is a place of
        the same name.
        """
        name = argument_name(protocol, argument.name)
        found = list[tuple[float, Value]]()
        for apart, group in self._groups(protocol, argument, name):
            ordered = [heapq.nlargest(MOST_CANDIDATES, place.values.values(), key=self.popularity)
                       for place in sorted(group, key=lambda place: not place.argument)]  # fmt: skip
            row = [held for row in zip_longest(*ordered) for held in row if held is not None]
            once = {
                url_text(held.value): held for held in reversed(row)
            }  # of several places, where the last has it
            found += [(apart + 0.75 * n, value) for n, value in enumerate(reversed(once.values()))]
        return sorted(found, key=lambda pair: pair[0])

    def values_above(self, protocol: ToolProtocol, argument: ArgumentFacts) -> list[Value]:
        """What one step above names: `/parts` gives `{"cpu": …}` or `[{"name": "cpu"}]`,
        `/parts/{one}` takes `cpu`.
        """
        if not isinstance(protocol.binding, HttpBinding):
            return []
        above, _, step = protocol.binding.url.rstrip("/").rpartition("/")
        own = step == f"{{{protocol.binding.wire_names.get(argument.name, argument.name)}}}"
        return list(self._below.get(above, {}).values()) if own else []

    def places_holding(self, value: Json) -> Collection[ValuePlace]:
        """The places in responses that held a value; `5` and `"5"` are one."""
        return self._where.get(url_text(value), {}).keys()

    def popularity(self, held: Value) -> int:
        """How many places yield a value by themselves: what many tools know of, a tool is more
        likely to answer for.
        """
        return sum(not place.echoes for place in self.places_holding(held.value))

    def _groups(
        self, protocol: ToolProtocol, argument: ArgumentFacts, wanted: NormalizedName
    ) -> list[tuple[float, list[ValuePlace]]]:
        """Places of one name together, with their distance from the argument, the nearest first.

        A place whose name says nothing counts where it holds a value known to be good; while none
        is known, also lists of names to look up, for a path, and ids.
        """
        said = words_about(argument)
        paging = wanted.own in PAGING
        in_path = argument.place == "path"
        good = [part for value in good_values(argument) for part in scalars(value)]
        telling = {url_text(part) for part in good if is_identifying(part)}
        tried = sum(v.origin.kind == "response" for v in (*argument.refused, *argument.not_found))
        lost = (
            not good
            and tried < _STRANGERS_TRIED
            and (wanted.is_identifier or not guess_values(argument.name))
        )
        groups: dict[tuple[str, bool, float], tuple[float, list[ValuePlace]]] = {}
        for name, places in self._by_name.items():
            apart = distance(wanted, name, said)
            closed = (
                wanted.is_search_text
                or wanted.secret
                or paging
                or name.own in PAGING
                or not (lost or telling)
            )
            for place in places if apart is not None else () if closed else places[:2]:
                far = apart
                if far is None and not place.argument:
                    if not telling.isdisjoint(place.values):
                        far = _KNOWN
                    elif lost and in_path and place.path.endswith("[]") and len(place.values) > 1:
                        far = _LISTED
                    elif lost and name.is_identifier:
                        far = _ANY if wanted.is_identifier or in_path else _LAST
                own = place.argument and place.tool == protocol.name
                hidden = (name.secret or place.secret) and not wanted.secret
                if (
                    far is not None
                    and not own
                    and not hidden
                    and (not paging or (far == EQUAL and place.argument))
                ):
                    groups.setdefault((name.key, place.argument, round(far, 1)), (far, []))[
                        1
                    ].append(place)
        return sorted(groups.values(), key=lambda pair: pair[0])

    def _place(self, protocol: ToolProtocol, path: str, *, argument: str = "") -> ValuePlace:
        """The place of a tool and a path, made where there is none."""
        key = (protocol.name, path)
        place = self._places.get(key)
        if place is None:
            name = argument_name(protocol, argument) if argument else field_name(protocol, path)
            place = self._places[key] = ValuePlace(*key, name, argument=bool(argument))
            self._by_name.setdefault(name, []).append(place)
        return place


def _origin(sample: Sample, path: str) -> ValueOrigin:
    return ValueOrigin(kind="response", tool=sample.tool, path=path, sample=sample.number)


def words_about(argument: ArgumentFacts) -> frozenset[str]:
    """The words, in the singular, that the description of an argument and the replies about it use."""
    texts = [str(argument.declared.get(key, "")) for key in ("title", "description")]
    return words_in((*texts, *(hint.text for hint in argument.hints)))


def good_values(argument: ArgumentFacts) -> Iterator[Json]:
    """Values that are known to be good for an argument, or are called so."""
    yield from (held.value for held in argument.accepted)
    yield from (value for h in argument.hints if h.kind == "enum" for value in h.values)
    for key in ("examples", "enum"):
        yield from values if isinstance(values := argument.declared.get(key), list) else ()
    yield from (
        argument.declared[key]
        for key in ("example", "default", "const")
        if key in argument.declared
    )


@dataclass(frozen=True, slots=True)
class ResponseRecord:
    """An object of a response: each of its scalars, those of the objects around it, and the
    arguments of its call.
    """

    sample: int
    values: Mapping[tuple[str, str], Value]


def _collect(
    node: Json,
    path: str,
    around: Mapping[tuple[str, str], Value],
    sample: Sample,
    found: list[ResponseRecord],
) -> None:
    """Add the records in a response, outer before inner."""
    inner: list[tuple[str, Json]] = []
    if isinstance(node, list):
        inner = [(f"{path}[]", item) for item in node[:40]]
    elif isinstance(node, Mapping):
        inner = [(f"{path}.{key}".lstrip("."), value) for key, value in islice(node.items(), 100)]
    own = {(sample.tool, here): Value(value, _origin(sample, here)) for here, value in inner
           if isinstance(value, str | int | float)}  # fmt: skip
    records = (
        [own] if isinstance(node, Mapping) and own else [{key: value} for key, value in own.items()]
    )
    inside = {**around, **own} if isinstance(node, Mapping) else around
    for record in records:
        if len(found) <= 300:
            found.append(ResponseRecord(sample.number, {**around, **record}))
    for here, value in inner:
        if isinstance(value, Mapping | list) and len(found) <= 300:
            _collect(value, here, inside, sample, found)
