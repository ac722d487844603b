"""What a write changed, as reads before and after it show: a pure function of the samples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from probing.effects.firsts import Firsts
from probing.effects.words import kind_of
from probing.facts import ToolFacts
from probing.gate.plan import reads
from probing.sample import Sample, call_key
from probing.soft_errors import refusal_in
from protocols.jsontypes import Json, JsonObject
from sandbox.evidence import added

GONE = (404, 410)
"""Statuses that say that a thing is not there: an answer too."""
_REFUSALS = (409, 425, 429)
"""Statuses after which a call may be sent again by a program only with care, but that say no."""
_SHORTEST = 2
"""Characters of a text by which a record is known as a write's: a single letter stands in every record."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What one read shows of one write: records (elements of lists, else the whole) that came, went or were altered.

    `related`: some of them hold a value that the write was given or answered; otherwise they may have changed by
    themselves. `telling`: a record that came, went or changed has an argument's value under the argument's own name.
    """

    before: Sample
    after: Sample
    added: tuple[JsonObject, ...] = ()
    removed: tuple[JsonObject, ...] = ()
    altered: tuple[tuple[JsonObject, JsonObject], ...] = ()
    same: bool = True
    related: bool = False
    telling: bool = False

    @property
    def read(self) -> str:
        """The tool that was asked before and after."""
        return self.after.tool


class Timeline:
    """All samples of a probing in the order in which they were sent, and which of them may have changed something."""

    def __init__(self, world: Mapping[str, ToolFacts], firsts: Firsts | None = None) -> None:
        """`firsts` is that of an earlier moment of the same probing, which saves reading all samples again."""
        self.world = world
        self.kinds = {name: kind_of(facts.protocol)[0] for name, facts in world.items()}
        self.samples = sorted((s for facts in world.values() for s in facts.samples), key=lambda s: s.number)
        self._acts = [s for s in self.samples if self.acts(s)]
        # A thing that is not there is an answer too.
        showing = (s for s in self.samples if self.reads(s.tool) and (s.done or s.status in GONE))
        self._shown = [(call_key(s.tool, s.plain), s) for s in showing]
        self.firsts = firsts or Firsts()
        self.firsts.take(self.samples, {name: facts.protocol for name, facts in world.items()})

    def reads(self, tool: str) -> bool:
        """Whether a tool is taken for one that only reads: it is known to, or is called so."""
        return reads(self.world[tool].protocol) or self.kinds[tool] == "read"

    def acts(self, sample: Sample) -> bool:
        """Whether a call may have changed something. What is only called like a read may have; a conflict did not."""
        may_have = sample.outcome in ("done", "unknown") and sample.status not in _REFUSALS
        return may_have and not reads(self.world[sample.tool].protocol)

    def fresh(self, read: Sample, *, beside: str = "") -> bool:
        """Whether nothing may have changed since this sample was taken, but by calls of the tool `beside`."""
        if read.purpose == "recorded":
            return False  # it was long ago
        return not any(act.number > read.number and act.tool != beside for act in self._acts)

    def last(self, tool: str, arguments: JsonObject) -> Sample | None:
        """The latest sample of a call."""
        key = call_key(tool, arguments)
        found = (s for s in reversed(self.world[tool].samples) if call_key(tool, s.plain) == key)
        return next(found, None)

    def seen(self, write: Sample) -> list[Seen]:
        """What reads show of one write: each read's last sample before it and first after it, no other act between."""
        before: dict[str, Sample] = {}
        after: dict[str, Sample] = {}
        for key, sample in self._shown:
            if sample.tool == write.tool:
                continue
            if sample.number < write.number:
                before[key] = sample
            else:
                after.setdefault(key, sample)
        pairs = [(before[key], sample) for key, sample in after.items() if key in before]
        return [compare(write, *pair) for pair in pairs if not self._disturbed(*pair, write)]

    def volatile(self, read: Sample) -> bool:
        """Whether a read was seen to answer otherwise by itself: twice in a row, with no other act between."""
        key = call_key(read.tool, read.plain)
        mine = [sample for other, sample in self._shown if other == key]
        acts = [act.number for act in self._acts if act.tool != read.tool]
        return any(
            not compare(first, first, second).same
            for first, second in pairwise(mine)
            if not any(first.number < number < second.number for number in acts)
        )

    def settled(self, read: Sample) -> bool:
        """Whether a read was asked twice in a row, so that it is known whether it is volatile."""
        key = call_key(read.tool, read.plain)
        mine = [sample for other, sample in self._shown if other == key]
        acts = [act.number for act in self._acts if act.tool != read.tool]
        return any(
            not any(first.number < number < second.number for number in acts) for first, second in pairwise(mine)
        )

    def _disturbed(self, before: Sample, after: Sample, write: Sample) -> bool:
        between = (act for act in self._acts if before.number < act.number < after.number)
        return any(act.number != write.number for act in between)


def made_here(facts: ToolFacts) -> list[Sample]:
    """The calls of a tool that this probing made and that were done; those that a recording had are others'."""
    return [s for s in facts.done if s.purpose != "recorded" and not refusal_in(s.response)]


def compare(write: Sample, before: Sample, after: Sample) -> Seen:
    """The difference between two answers of one read, and whether it has to do with `write`."""
    was, now = _records(before), _records(after)
    if was == now:
        return Seen(before=before, after=after)
    new, gone = added(was, now), added(now, was)
    altered: list[tuple[JsonObject, JsonObject]] = []
    for record in list(new):
        partner = next((old for old in gone if _alike(old, record)), None)
        if partner is not None:
            altered.append((partner, record))
            new.remove(record)
            gone.remove(partner)
    changed = [*new, *gone, *(record for _, record in altered)]
    values = _scalars(write.plain) | (_scalars(write.response) if write.done else set())
    return Seen(
        before=before,
        after=after,
        added=tuple(new),
        removed=tuple(gone),
        altered=tuple(altered),
        same=False,
        related=any(_scalars(record) & values for record in changed),
        telling=any(_holds(record, write.plain) for record in changed),
    )


def _records(sample: Sample) -> list[JsonObject]:
    """The objects in lists of a response (scalars in lists stand in a box); without any, the response itself."""
    if not sample.done:
        return []
    listed = list(_listed(sample.response))
    if listed or _has_list(sample.response):
        return listed
    return [sample.response] if isinstance(sample.response, Mapping) else [{"": sample.response}]


def _listed(node: Json) -> Iterator[JsonObject]:
    """Elements of the outermost lists: a change inside one is a change of it."""
    if isinstance(node, list):
        for item in node:
            yield item if isinstance(item, Mapping) else {"": item}
    elif isinstance(node, Mapping):
        for part in node.values():
            yield from _listed(part)


def _has_list(node: Json) -> bool:
    return isinstance(node, list) or (isinstance(node, Mapping) and any(map(_has_list, node.values())))


def _alike(old: JsonObject, new: JsonObject) -> bool:
    """Whether they are one thing before and after: most names are the same, and half of what these hold or more."""
    names = old.keys() & new.keys()
    if "" in names or 2 * len(names) < max(len(old), len(new)):
        return False
    return 2 * sum(_text(old[name]) == _text(new[name]) for name in names) >= len(names)


def _scalars(node: Json) -> set[str]:
    """Texts and numbers by which a record is known again: no truth values, no single letters and digits."""
    if isinstance(node, Mapping):
        return {text for part in node.values() for text in _scalars(part)}
    if isinstance(node, list):
        return {text for part in node for text in _scalars(part)}
    if node is None or isinstance(node, bool) or len(str(node)) < _SHORTEST:
        return set()
    return {str(node)}


def _holds(record: JsonObject, arguments: JsonObject) -> bool:
    return any(name in record and value is not None and record[name] == value for name, value in arguments.items())


def _text(value: Json) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
