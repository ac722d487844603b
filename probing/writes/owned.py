"""Which things this probing made itself: only those may it take away again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from probing.combine import argument_place, records_of
from probing.effects.seen import Timeline, made_here
from probing.effects.words import is_verb
from probing.facts import ToolFacts, place_of
from probing.sample import Origin, Sample, Value, call_key
from probing.writes.given import given_things
from probing.writes.shown import is_first, is_shown, is_unasked
from protocols.id_names import argument_key, field_key
from protocols.jsontypes import Json
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.vocabulary import ID_WORDS
from protocols.words import singular, snake

_STEM = 4
"""Letters of a verb by which its noun is known: `reserve` and `reservation`."""
_NAMES = frozenset({"file", "filename", "name", "path", "title"})
_IDS = ("id", "uuid", "uid", "key", "slug", "name", "number", "code")


@dataclass(frozen=True, kw_only=True)
class Owned:
    """A thing that a call of this probing made, by the arguments with which `tool` takes it away."""

    tool: str
    arguments: Mapping[str, Value]
    made_by: Sample


def identifying(protocol: ToolProtocol) -> list[str]:
    """The arguments that say which thing is meant: those in the path, and those whose names say that they identify."""
    return [name for name in protocol.parameters if place_of(protocol, name) == "path" or _identifies(protocol, name)]


def _identifies(protocol: ToolProtocol, name: str) -> bool:
    key = argument_key(protocol, name)
    return key is not None and key.rpartition("_")[2] in ID_WORDS | _NAMES


def handles(remover: ToolFacts, maker: ToolFacts) -> dict[str, str] | None:
    """Where the identifying arguments of `remover` stand in an answer of `maker` (a path), or among its arguments
    (`(name)`); `None` where one stands in neither, or none of them is of what `maker` makes.

    A login's answer may hold a user's id: it made no user.
    """
    wanted = identifying(remover.protocol)
    found: dict[str, str] = {}
    for name in wanted:
        place = _place(remover.protocol, name, maker)
        if place is not None:
            found[name] = place
        elif name in remover.protocol.required or place_of(remover.protocol, name) == "path" or len(wanted) == 1:
            return None
    made = any(
        not place.startswith("(") and makes(maker.protocol, remover.protocol, name) for name, place in found.items()
    )
    return found if found and (made or same_address(remover.protocol, maker.protocol)) else None


def makes(maker: ToolProtocol, taker: ToolProtocol, argument: str) -> bool:
    """Whether what `maker` makes is what `argument` of `taker` says which of: `booking_id` and `POST /bookings`,
    `order_id` and `order_print`, `{x}` of `/notes/{x}` and `POST /notes`.
    """
    if _is_item_of(taker, maker, argument):
        return True
    key = argument_key(taker, argument)
    noun = key.rpartition("_")[0] if key else ""
    if not noun:
        return False
    words = [singular(word) for word in snake(maker.name).split("_")]
    address = _address(maker)
    heads = [words[-1]]
    if address is not None:
        fixed = [part for part in address[3:] if part and "{" not in part]
        heads = [singular(snake(fixed[-1]))] if fixed else []
    verb = next((word for word in words if is_verb(word)), "")
    said = any(head == noun or head.endswith(f"_{noun}") or noun.endswith(f"_{head}") for head in heads)
    return said or (len(verb) >= _STEM and noun.startswith(verb[: max(_STEM, len(verb) - 1)]))


def owned(remover: ToolFacts, timeline: Timeline) -> Iterator[Owned]:
    """The things that this probing made and `remover` can take away, the latest first; those taken away are left out.

    A thing counts as made here when its id came first in the answer to our own write, or when a read showed that our
    write added a record at the very address that `remover` takes, or just what our write was given.
    """
    removes = timeline.kinds[remover.name] == "remove"
    made = [
        one
        for maker in timeline.world.values()
        for one in made_by(maker, remover, timeline)
        if not removes or remover.name in takers(maker, timeline)
    ]
    gone = [sample.plain for sample in remover.done]
    left = [
        one for one in made if not any(all(past.get(n) == v.value for n, v in one.arguments.items()) for past in gone)
    ]
    # Of equal ones (a repeated write that changed nothing more) one is enough.
    unique = {call_key(one.tool, {n: v.value for n, v in one.arguments.items()}): one for one in left}
    yield from sorted(unique.values(), key=lambda one: -one.made_by.number)


def made_by(maker: ToolFacts, remover: ToolFacts, timeline: Timeline) -> Iterator[Owned]:
    """What calls of `maker` made that `remover` can take away, those taken away already among them."""
    if timeline.kinds[maker.name] not in ("create", "update"):
        return
    taken = handles(remover, maker) if maker.done and maker.name != remover.name else None
    if taken is None and maker.done:
        removes = timeline.kinds[remover.name] == "remove"
        for one in given_things(remover, maker, timeline):
            if is_first(one, timeline) and (is_shown if removes else is_unasked)(one, timeline):
                yield Owned(tool=remover.name, arguments=one.arguments, made_by=one.made_by)
    for sample in made_here(maker) if taken else ():
        arguments = {argument: _value(sample, place) for argument, place in (taken or {}).items()}
        given = {argument: value for argument, value in arguments.items() if value is not None}
        if len(given) == len(arguments) and _made(remover, maker, sample, taken or {}, given, timeline):
            yield Owned(tool=remover.name, arguments=given, made_by=sample)


def may_remove(remover: ToolFacts, arguments: Mapping[str, Value], timeline: Timeline) -> bool:
    """Whether a call would take away only what this probing made."""
    return any(
        all(name in arguments and arguments[name].value == value.value for name, value in one.arguments.items())
        for one in owned(remover, timeline)
    )


def left_behind(timeline: Timeline) -> list[Sample]:
    """Calls that made something which was not taken away again, as far as answers and reads tell."""
    removers = [facts for name, facts in timeline.world.items() if timeline.kinds[name] == "remove"]
    gone = {repr(value) for remover in removers for sample in remover.done for value in sample.plain.values()}
    found = []
    for name, facts in timeline.world.items():
        if timeline.kinds[name] not in ("create", "update") or timeline.reads(name):
            continue
        still = {
            one.made_by.number for taker in takers(facts, timeline) for one in owned(timeline.world[taker], timeline)
        }
        undone = {
            one.made_by.number
            for taker in takers(facts, timeline)
            for one in made_by(facts, timeline.world[taker], timeline)
        }
        seen = (shown for sample in made_here(facts) for shown in timeline.seen(sample))
        added = timeline.kinds[name] == "create" or any(shown.added and shown.related for shown in seen)
        for sample in made_here(facts):
            # What stood in a thing that was taken away went with it.
            within = any(repr(value) in gone for value in sample.plain.values())
            if added and not within and (sample.number not in undone or sample.number in still):
                found.append(sample)
    return sorted(found, key=lambda sample: sample.number)


def takers(maker: ToolFacts, timeline: Timeline) -> list[str]:
    """The tools that take back what `maker` makes: those at its own address, else those that take what it makes."""
    able = [
        facts.protocol
        for name, facts in timeline.world.items()
        if timeline.kinds[name] == "remove" and next(made_by(maker, facts, timeline), None) is not None
    ]
    near = [p for p in able if same_address(p, maker.protocol) or _address(p, below=True) == _address(maker.protocol)]
    return [protocol.name for protocol in near or able]


def _made(
    remover: ToolFacts,
    maker: ToolFacts,
    sample: Sample,
    taken: Mapping[str, str],
    given: Mapping[str, Value],
    timeline: Timeline,
) -> bool:
    for argument, place in taken.items():
        key = argument_key(remover.protocol, argument)
        of_it = not place.startswith("(") and makes(maker.protocol, remover.protocol, argument)
        if of_it and timeline.firsts.is_new(given[argument].value, key, sample):
            return True
    if not same_address(remover.protocol, maker.protocol):
        return False
    return any(seen.added and seen.related for seen in timeline.seen(sample))


def _place(remover: ToolProtocol, argument: str, maker: ToolFacts) -> str | None:
    key = argument_key(remover, argument)
    protocol = maker.protocol
    paths = dict.fromkeys(path for sample in maker.done for path in _paths(sample))
    if key is not None:
        outer = sorted(
            (p for p in paths if field_key(protocol, p) == key and "[]" not in p), key=lambda p: p.count(".")
        )
        if outer:
            return outer[0]
    for name in protocol.parameters:
        if name == argument or (key is not None and argument_key(protocol, name) == key):
            return str(argument_place("", name)[1])
    if _is_item_of(remover, protocol, argument):
        tops = {snake(path): path for path in paths if "." not in path and "[]" not in path}
        return next((tops[n] for n in (snake(argument), *_IDS) if n in tops), None)
    return None


def _paths(sample: Sample) -> Iterator[str]:
    for record in records_of(sample):
        yield from (path for tool, path in record.values if tool == sample.tool and not path.startswith("("))


def _value(sample: Sample, place: str) -> Value | None:
    if place.startswith("("):
        return sample.arguments.get(place[1:-1])
    node: Json = sample.response
    for part in place.split("."):
        node = node.get(part) if isinstance(node, Mapping) else None
    if isinstance(node, bool) or not isinstance(node, str | int):
        return None
    return Value(node, Origin(kind="response", tool=sample.tool, path=place, sample=sample.number))


def _is_item_of(remover: ToolProtocol, maker: ToolProtocol, argument: str) -> bool:
    """Whether `remover` takes `/notes/{id}` where `maker` takes `/notes`."""
    one, other = _address(remover), _address(maker)
    return one is not None and other is not None and one == [*other, f"{{{argument}}}"]


def same_address(remover: ToolProtocol, maker: ToolProtocol) -> bool:
    """Whether both take the very same address, as PUT and DELETE of one resource do."""
    one, other = _address(remover), _address(maker)
    return one is not None and one == other and "{" in "".join(one)


def _address(protocol: ToolProtocol, *, below: bool = False) -> list[str] | None:
    """The parts of a tool's address; `below`: without the last one, where that is an argument."""
    if not isinstance(protocol.binding, HttpBinding):
        return None
    parts = protocol.binding.url.partition("?")[0].rstrip("/").split("/")
    return parts[:-1] if below and "{" in parts[-1] else parts
