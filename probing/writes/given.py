"""Things that are known by the arguments with which they were made: by a name, a path, or all that was said of them.

`create_entities(entities=[{"name": "a", …}])` makes what `delete_entities(entityNames=["a"])` takes away, although no
answer holds an id. That it came by the call is believed where no answer held it before, and a read that was asked
before the call shows it after.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from probing.demands import needed
from probing.effects.seen import Timeline, made_here
from probing.facts import ToolFacts
from probing.naming import called, words_of
from probing.sample import Origin, Sample, Value, call_key
from probing.shape import text_of
from probing.writes.shown import Given, is_first, is_scalar, is_shown, of_ours, texts_of
from probing.writes.watch import nouns
from protocols.jsontypes import Json
from protocols.protocol import ToolProtocol
from protocols.schema import resolve, types
from protocols.words import singular

_MOST_READS = 3
_SOURCES = frozenset({"from", "old", "source"})
_TARGETS = frozenset({"dest", "destination", "new", "target", "to"})
"""First words of arguments that say which thing is to be moved or called otherwise, and where or what it is then."""


def lists(protocol: ToolProtocol) -> list[str]:
    """The arguments that name several things at once."""
    return [name for name in protocol.parameters if _kind(protocol, name) != "scalar"]


def given_things(taker: ToolFacts, maker: ToolFacts, timeline: Timeline) -> Iterator[Given]:
    """What calls of `maker` made, by arguments of `taker`, which is about the same; proven or not.

    What takes away is told which by these calls alone: all arguments that it needs are of one of them.
    """
    about = nouns(taker.protocol)
    kind = timeline.kinds[maker.name]
    if maker.name == taker.name or kind not in ("create", "update") or not about & nouns(maker.protocol):
        return
    wanted = needed(taker) or list(taker.protocol.parameters)
    removes = timeline.kinds[taker.name] == "remove"
    if removes and about != nouns(maker.protocol):
        return
    for sample in made_here(maker):
        if kind == "update" and not of_ours(sample, timeline):
            continue
        found = {name: held for name in wanted if (held := _held(taker, name, sample)) is not None}
        if not found or (removes and len(found) < len(wanted)):
            continue
        yield Given(
            arguments={name: held.value for name, held in found.items()},
            things=tuple(thing for held in found.values() if held.several for thing in held.things),
            beside=tuple(thing for held in found.values() if not held.several for thing in held.things),
            made_by=sample,
        )


def unseen(taker: ToolFacts, timeline: Timeline) -> list[Sample]:
    """Reads to be asked again: they were asked before something was made, and not since. The most telling first."""
    made = [given for maker in timeline.world.values() for given in given_things(taker, maker, timeline)]
    open_ones = [given for given in made if is_first(given, timeline) and not is_shown(given, timeline)]
    if not open_ones:
        return []
    first, last = open_ones[0].made_by.number, max(given.made_by.number for given in open_ones)
    asked: dict[str, list[Sample]] = {}
    for sample in timeline.samples:
        if sample.done and timeline.reads(sample.tool) and sample.purpose != "refuse":
            asked.setdefault(call_key(sample.tool, sample.plain), []).append(sample)
    stale = [held[-1] for held in asked.values() if held[0].number < first and held[-1].number < last]
    mine = nouns(taker.protocol)
    stale.sort(key=lambda s: (-len(mine & nouns(timeline.world[s.tool].protocol)), len(s.arguments), s.number))
    return stale[:_MOST_READS]


@dataclass(frozen=True, kw_only=True)
class _Held:
    value: Value
    things: tuple[frozenset[str], ...]
    several: bool


def _held(taker: ToolFacts, name: str, sample: Sample) -> _Held | None:
    """A value for an argument out of the arguments of a call, and which things it names."""
    kind = _kind(taker.protocol, name)
    for given, held in _nearest(name, sample):
        origin = Origin(kind="response", tool=sample.tool, path=f"({given})", sample=sample.number)
        match kind:
            case "scalar" if is_scalar(held) and _same(taker, name, given):
                return _Held(value=Value(held, origin), things=(frozenset({text_of(held)}),), several=False)
            case "scalars" if texts := _names(name, given, held):
                things = tuple(frozenset({text_of(text)}) for text in texts)
                return _Held(value=Value(texts, origin), things=things, several=True)
            case "records" if records := _records(taker.protocol, name, given, held):
                things = tuple(frozenset(texts_of(record)) for record in records)
                return _Held(value=Value(records, origin), things=things, several=True)
    return None


def _nearest(name: str, sample: Sample) -> list[tuple[str, Json]]:
    """The arguments of a call, the one of the same name first."""
    return sorted(sample.plain.items(), key=lambda pair: pair[0] != name)


def _same(taker: ToolFacts, name: str, given: str) -> bool:
    """Whether an argument means what the other one does: by its name, or as replies call it."""
    mine, its = words_of(name), words_of(given)
    spoken = called(taker.arguments[name]) if name in taker.arguments else ()
    moved = mine.split("_")[0] in _SOURCES or its.split("_")[0] in _TARGETS
    return mine == its or its in spoken or (moved and "path" in (mine, its, *spoken))


def _names(name: str, given: str, held: Json) -> list[Json]:
    """Scalars for a list of them: the same argument, or that field of its records (`entityNames` of `entities`)."""
    wanted, noun = singular(words_of(name)), singular(words_of(given))
    values = held if isinstance(held, list) else [held]
    if wanted == noun and values and all(map(is_scalar, values)):
        return values
    records = [one for one in values if isinstance(one, Mapping)]
    if not records or len(records) < len(values):
        return []
    fields = [key for key in records[0] if words_of(key) == wanted or f"{noun}_{words_of(key)}" == wanted]
    found = [record.get(field) for field in fields[:1] for record in records]
    return found if all(map(is_scalar, found)) else []


def _records(protocol: ToolProtocol, name: str, given: str, held: Json) -> list[Json]:
    """Records for a list of them: each field by its name, one that is left over by its type."""
    items = _items(protocol, name)
    wanted: dict[str, Any] = items.get("properties", {})
    records = [one for one in held if isinstance(one, Mapping)] if isinstance(held, list) else []
    if not wanted:
        return records if words_of(name) == words_of(given) else []
    made = [_record(items, wanted, record) for record in records]
    whole = [record for record in made if record is not None]
    return list(whole) if len(whole) == len(made) else []


def _record(items: Mapping[str, Any], wanted: Mapping[str, Any], record: Mapping[str, Json]) -> dict[str, Json] | None:
    named = {words_of(key): key for key in record}
    made = {field: record[named[words_of(field)]] for field in wanted if words_of(field) in named}
    left = [field for field in items.get("required", wanted) if field not in made]
    spare = [key for key in record if words_of(key) not in {words_of(field) for field in made}]
    for field in left:
        fits = [key for key in spare if isinstance(record[key], list) == ("array" in types(wanted[field]))]
        if len(left) > 1 or len(fits) != 1:
            return None
        made[field] = record[fits[0]]
    return made


def _kind(protocol: ToolProtocol, name: str) -> str:
    """`scalar`, `scalars` or `records`, by what is declared."""
    declared = protocol.parameters.get(name)
    if not isinstance(declared, Mapping) or "array" not in types(resolve(declared, protocol.input_schema)):
        return "scalar"
    items = _items(protocol, name)
    return "records" if "object" in types(items) or "properties" in items else "scalars"


def _items(protocol: ToolProtocol, name: str) -> Mapping[str, Any]:
    root = protocol.input_schema
    items = resolve(resolve(protocol.parameters[name], root).get("items", {}), root)
    return items if isinstance(items, Mapping) else {}
