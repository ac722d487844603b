"""Whether answers show that a thing came by a call of this probing: no answer held it before, and a read does after."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from probing.effects.seen import Timeline
from probing.sample import Sample, Value, call_key
from probing.shape import text_of
from protocols.jsontypes import Json


@dataclass(frozen=True, kw_only=True)
class Given:
    """Arguments for a tool, of a call that made something.

    `things` are what a record of each holds together, `beside` the scalars of which one at the least is such a thing,
    while others may say where it is.
    """

    arguments: Mapping[str, Value]
    things: tuple[frozenset[str], ...]
    beside: tuple[frozenset[str], ...]
    made_by: Sample


def is_first(given: Given, timeline: Timeline) -> bool:
    """Whether no answer had held any of it before a call of this probing that makes things was given it."""
    return all(
        _first_shown(thing, timeline) > _sent(thing, given.made_by, timeline)
        for thing in (*given.things, *given.beside)
    )


def is_shown(given: Given, timeline: Timeline) -> bool:
    """Whether a read that was asked before shows it afterwards."""
    return (not given.things or _came(given.things, given, timeline)) and (
        bool(given.things) or any(_came((thing,), given, timeline) for thing in given.beside)
    )


def is_unasked(given: Given, timeline: Timeline) -> bool:
    """Whether no tool answered to any of it before: a folder that reads were given was not made by a later write."""
    things = (*given.things, *given.beside)
    first = min(_sent(thing, given.made_by, timeline) for thing in things)
    earlier = [sample.plain for sample in timeline.samples if sample.done and sample.number < first]
    return not any(shows(arguments, thing) for arguments in earlier for thing in things)


def _came(things: tuple[frozenset[str], ...], given: Given, timeline: Timeline) -> bool:
    sent = min(_sent(thing, given.made_by, timeline) for thing in things)
    answers = [sample for sample in timeline.samples if sample.done and timeline.reads(sample.tool)]
    asked = {_key(sample) for sample in answers if sample.number < sent}
    later = [sample for sample in answers if sample.number > given.made_by.number and _key(sample) in asked]
    return any(all(shows(sample.response, thing) for thing in things) for sample in later)


def _sent(thing: frozenset[str], sample: Sample, timeline: Timeline) -> int:
    """The number of the first call that makes things and was given this one: a person is made with their first note.

    That of `sample` where there is none.
    """
    makers = (s for s in timeline.samples if s.done and timeline.kinds[s.tool] == "create" and s.purpose != "recorded")
    return next((s.number for s in makers if shows(s.plain, thing)), sample.number)


def _first_shown(thing: frozenset[str], timeline: Timeline) -> float:
    done = (sample for sample in timeline.samples if sample.done)
    return next((sample.number + 0.5 for sample in done if shows(sample.response, thing)), float("inf"))


def of_ours(sample: Sample, timeline: Timeline) -> bool:
    """Whether a call changed a thing that this probing made: it was given the same name, which no answer had before."""
    names = [frozenset({text_of(value)}) for value in sample.plain.values() if is_scalar(value)]
    made = [s for s in timeline.samples if s.number < sample.number and s.done and timeline.kinds[s.tool] == "create"]
    return any(
        any(shows(s.plain, name) for s in made) and _first_shown(name, timeline) > _sent(name, sample, timeline)
        for name in names
    )


def shows(response: Json, thing: frozenset[str]) -> bool:
    """Whether one record of a response holds all of these texts; of a single one, whether it stands anywhere."""
    return _holds(response, thing) and (len(thing) == 1 or any(_holds(record, thing) for record in _records(response)))


def _key(sample: Sample) -> str:
    return call_key(sample.tool, sample.plain)


def _records(node: Json) -> Iterator[Json]:
    """The innermost objects: those in which no list holds further ones."""
    parts = [part for value in _values(node) for part in (value if isinstance(value, list) else [value])]
    inner = [part for part in parts if isinstance(part, Mapping | list)]
    if isinstance(node, Mapping) and not any(isinstance(part, Mapping) for part in inner):
        yield node
    for part in inner:
        yield from _records(part)


def _values(node: Json) -> list[Json]:
    if isinstance(node, Mapping):
        return list(node.values())
    return node if isinstance(node, list) else []


def _holds(node: Json, texts: Iterable[str]) -> bool:
    held = set(texts_of(node))
    long = [text for text in held if "\n" in text or " " in text]
    return all(text in held or any(_stands_in(text, words) for words in long) for text in texts)


def _stands_in(text: str, words: str) -> bool:
    """Whether a name stands in a text by itself or at the end of a path."""
    return re.search(rf"(?<![\w.-]){re.escape(text)}(?![\w/-]|\.\w)", words) is not None


def texts_of(node: Json) -> Iterator[str]:
    """All scalars in a value, as texts."""
    if isinstance(node, Mapping):
        for part in node.values():
            yield from texts_of(part)
    elif isinstance(node, list):
        for part in node:
            yield from texts_of(part)
    elif node is not None:
        yield text_of(node)


def is_scalar(value: Json) -> bool:
    """Whether a value may be a name: a text or a whole number."""
    return isinstance(value, str | int) and not isinstance(value, bool)
