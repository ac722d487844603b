"""By which reads one sees what a write changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile

from probing.demands import needed
from probing.discover import base
from probing.effects.seen import Timeline
from probing.effects.words import is_verb
from probing.facts import ToolFacts
from probing.gate.plan import reads
from probing.sample import Sample, Value
from protocols.id_names import argument_key
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.vocabulary import VERBS
from protocols.words import singular, snake

_MOST = 2


@dataclass(frozen=True)
class WatchedRead:
    """A read and the arguments with which it shows what a write changed."""

    tool: str
    arguments: Mapping[str, Value]

    @property
    def plain(self) -> dict[str, object]:
        """The arguments' values alone."""
        return {name: value.value for name, value in self.arguments.items()}

    def last(self, timeline: Timeline) -> Sample | None:
        """The latest answer."""
        return timeline.last(self.tool, self.plain)

    def is_fresh(self, timeline: Timeline) -> bool:
        """Whether the latest answer still holds: nothing may have changed since."""
        last = self.last(timeline)
        return last is not None and timeline.fresh(last)


def watched_reads(
    write: ToolFacts, arguments: Mapping[str, Value], timeline: Timeline, *, alternatives: bool = False
) -> list[WatchedRead]:
    """The reads that are most likely to show what a call of `write` with `arguments` changes, best first.

    They are about the same thing by name or address, or their answers have ids of such things; one that the source
    declares to verify it goes first. Several are given where nothing tells them apart: a list, and the thing itself.
    One that is merely called like a read stands alone: a second one could be what changed the first. With
    `alternatives`, all that may show it are given.
    """
    mine = nouns(write.protocol)
    declared = write.protocol.verified_by.tool if write.protocol.verified_by else ""
    ranked = []
    for name, facts in timeline.world.items():
        theirs = nouns(facts.protocol)
        shared, held = mine & theirs, mine & timeline.firsts.identified.get(name, set())
        if name == write.name or not timeline.reads(name) or not (shared or held or name == declared):
            continue
        chosen = _arguments(facts, write.protocol, arguments)
        if chosen is not None:
            presumed = not reads(facts.protocol)
            common = _common(write.protocol, facts.protocol)
            rank = (name != declared, presumed, -common, -len(shared), -len(held), len(theirs - mine))
            ranked.append((rank, WatchedRead(name, chosen)))
    ranked.sort(key=lambda pair: (pair[0], len(pair[1].arguments), pair[1].tool))
    if alternatives:
        return [read for _, read in ranked]
    equal = [read for rank, read in ranked if rank == ranked[0][0]]
    return equal[: 1 if ranked and ranked[0][0][1] else _MOST]


def _common(one: ToolProtocol, other: ToolProtocol) -> int:
    """How many parts their addresses begin with alike; a thing and the list that it stands in are equally near."""
    parts = [_path(protocol) for protocol in (one, other)]
    for path in parts:
        while path and "{" in path[-1]:
            path.pop()
    same = takewhile(lambda pair: pair[0] == pair[1], zip(*parts, strict=False))
    return sum(1 for _ in same)


def _path(protocol: ToolProtocol) -> list[str]:
    if not isinstance(protocol.binding, HttpBinding):
        return []
    return protocol.binding.url.partition("?")[0].split("/")[3:]


def nouns(protocol: ToolProtocol) -> frozenset[str]:
    """What a tool is about, by the words of its name after the verb and the fixed parts of its address."""
    name = snake(protocol.name).split("_")
    verb = next((place for place, word in enumerate(name) if is_verb(word)), None)
    words = [word for place, word in enumerate(name) if place != verb]
    words += [word for part in _path(protocol) if "{" not in part for word in snake(part).split("_")]
    return frozenset(noun for word in words if (noun := singular(word)) not in VERBS and len(noun) > 1)


def _arguments(read: ToolFacts, write: ToolProtocol, given: Mapping[str, Value]) -> dict[str, Value] | None:
    """Values for what the read needs: of the write where they mean the same, else those with which it answered."""
    start = base(read)
    if start is None and read.samples and not needed(read):
        return None  # it was asked, and never answered
    chosen: dict[str, Value] = {}
    for name in needed(read):
        key = argument_key(read.protocol, name)
        same = (n for n in given if n == name or (key is not None and argument_key(write, n) == key))
        value = next((given[n] for n in same), None) or (start.arguments.get(name) if start else None)
        if value is None:
            return None
        chosen[name] = value
    return chosen
