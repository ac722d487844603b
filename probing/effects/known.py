"""What calling a tool does to the world: from its method, its name, and above all from reads before and after it.

What is not shown is read in the more careful way. Wrongly taken for a read, a tool would be called without asking.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from probing.combine import records_of
from probing.effects.seen import Seen, Timeline, made_here
from probing.effects.words import UNTOLD, kind_of, kind_of_name
from probing.facts import ToolFacts
from probing.gate.plan import reads
from probing.sample import Sample, call_key
from probing.shape import text_of
from probing.things import noun_made
from protocols.id_names import field_key
from protocols.jsontypes import Json
from protocols.protocol import Annotations, HttpBinding, ToolProtocol, Verify

_NOT_AGAIN = (404, 409, 410)


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """The tool that takes back what a write made: its arguments → the response path or `(argument)` they come from."""

    tool: str
    arguments: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Effects:
    """What a call may do.

    `why` has a clause for each of `read_only`, `destructive` and `idempotent` that something tells of. `observed`
    names those that calls have shown, rather than a method or a name. `verified_by` is the read that shows what was
    written; `undone_by` what takes it back.
    """

    annotations: Annotations = field(default_factory=Annotations)
    why: Mapping[str, str] = field(default_factory=dict)
    observed: frozenset[str] = frozenset()
    verified_by: Verify | None = None
    undone_by: Undo | None = None


@dataclass
class _Verdict:
    value: bool | None = None
    why: str = ""
    observed: bool = False


def effects(facts: ToolFacts, timeline: Timeline) -> Effects:
    """What is known of one tool's effects. A pure function of the samples of all tools."""
    protocol = facts.protocol
    seen = {sample.number: timeline.seen(sample) for sample in made_here(facts) if timeline.acts(sample)}
    only_reads = _read_only(protocol, seen, timeline)
    if only_reads.value:
        verdicts = {"read_only": only_reads}
    else:
        verdicts = {
            "read_only": only_reads,
            "destructive": _destructive(protocol, seen),
            "idempotent": _idempotent(facts, timeline, seen),
        }
    annotations = Annotations(**{name: verdict.value for name, verdict in verdicts.items()})
    return Effects(
        annotations=annotations,
        why={name: verdict.why for name, verdict in verdicts.items() if verdict.why},
        observed=frozenset(name for name, verdict in verdicts.items() if verdict.observed),
        verified_by=None if only_reads.value else protocol.verified_by or _verifier(facts, timeline, seen),
        undone_by=None if only_reads.value else _undo(facts, timeline),
    )


def all_effects(world: Mapping[str, ToolFacts]) -> dict[str, Effects]:
    """The effects of each tool."""
    timeline = Timeline(world)
    return {name: effects(facts, timeline) for name, facts in world.items()}


def _read_only(protocol: ToolProtocol, seen: Mapping[int, list[Seen]], timeline: Timeline) -> _Verdict:
    changes = [s for shown in seen.values() for s in shown if s.related]
    if changes:
        return _Verdict(value=False, why=f"{changes[0].read} showed a change after a call", observed=True)
    kind, why = kind_of(protocol)
    http = isinstance(protocol.binding, HttpBinding)
    declared = protocol.annotations.read_only
    unsaid = False if http else declared  # a method that is no GET is no read until that is shown
    if reads(protocol):
        return _Verdict(value=True, why=why if http and kind == "read" else "its source declares it")
    if declared:  # by its method: its name speaks against it
        return _Verdict(value=False, why=why)
    named = kind_of_name(protocol)
    if kind != "read" or named is None:
        return _Verdict(value=unsaid if kind == "read" or why == UNTOLD else False, why=why)
    unchanged = [s for shown in seen.values() for s in shown if not timeline.volatile(s.after)]
    if unchanged and all(s.same for s in unchanged):
        shown_by = ", ".join(dict.fromkeys(s.read for s in unchanged))
        return _Verdict(value=True, why=f"{named[1]}, and {shown_by} showed no change after a call", observed=True)
    changed = next((s for s in unchanged if not s.same), None)
    if changed is not None:
        return _Verdict(value=unsaid, why=f"{named[1]}, but {changed.read} was not the same after a call")
    return _Verdict(value=unsaid, why=f"{named[1]}, but no read shows whether a call changes anything")


def _destructive(protocol: ToolProtocol, seen: Mapping[int, list[Seen]]) -> _Verdict:
    related = [s for shown in seen.values() for s in shown if s.related]
    gone = next((s for s in related if s.removed and not s.added), None)
    if gone is not None:
        return _Verdict(value=True, why=f"{gone.read} showed a record no more after a call", observed=True)
    kind, why = kind_of(protocol)
    if kind == "remove" or protocol.annotations.destructive:
        return _Verdict(value=True, why=why if kind == "remove" else "its source declares it")
    if any(s.altered for s in related):
        return _Verdict(value=protocol.annotations.destructive, why="it alters what is there", observed=True)
    if any(s.added for s in related):
        return _Verdict(value=False, why="it only added a record", observed=True)
    return _Verdict(value=protocol.annotations.destructive)


def _idempotent(facts: ToolFacts, timeline: Timeline, seen: Mapping[int, list[Seen]]) -> _Verdict:
    protocol = facts.protocol
    for first, second in repeats(facts, timeline):
        if second.number not in seen:  # refused, by its status or by what it says
            if timeline.kinds[facts.name] == "remove" and second.status in _NOT_AGAIN:
                return _Verdict(value=True, why="a second equal call was refused, since it was done", observed=True)
            continue
        after = seen[second.number]
        if any(s.related for s in after) or _new_thing(facts, first, second):
            return _Verdict(value=False, why="a second equal call did it once more", observed=True)
        if any(s.related for s in seen[first.number]) and after:
            return _Verdict(
                value=True, why=f"a second equal call changed nothing more ({after[0].read})", observed=True
            )
    if protocol.annotations.idempotent is not None:
        return _Verdict(value=protocol.annotations.idempotent, why="its source declares it")
    method = protocol.binding.method if isinstance(protocol.binding, HttpBinding) else ""
    return _Verdict(value=True, why=f"it is a {method}") if method in ("PUT", "DELETE") else _Verdict()


def repeats(facts: ToolFacts, timeline: Timeline) -> list[tuple[Sample, Sample]]:
    """Equal calls of a write with no other act between, of which the first was done."""
    found: list[tuple[Sample, Sample]] = []
    acts = [s.number for s in timeline.samples if timeline.acts(s)]
    for sample in made_here(facts):
        key = call_key(facts.name, sample.plain)
        later = (s for s in facts.samples if s.number > sample.number and call_key(facts.name, s.plain) == key)
        second = next(later, None)
        if second is not None and not any(sample.number < n < second.number for n in acts):
            found.append((sample, second))
    return found


def _new_thing(facts: ToolFacts, first: Sample, second: Sample) -> bool:
    """Whether two equal calls were answered with different ids."""
    one, other = _ids(facts.protocol, first.response), _ids(facts.protocol, second.response)
    return any(one[path] != other[path] for path in one.keys() & other.keys())


def _ids(protocol: ToolProtocol, response: Json) -> dict[str, Json]:
    found = {}
    if isinstance(response, Mapping):
        for name, value in response.items():
            key = field_key(protocol, name) if isinstance(value, str | int) and not isinstance(value, bool) else None
            if key is not None and key.split("_")[-1] in ("id", "key", "number", "code", "uuid", "ref", "no"):
                found[name] = value
    return found


def _verifier(facts: ToolFacts, timeline: Timeline, seen: Mapping[int, list[Seen]]) -> Verify | None:
    """A read that showed the write's own values in what changed, and needs nothing that the write was not given."""
    given = facts.protocol.parameters.keys() | facts.arguments.keys()
    good = {
        s.read
        for shown in seen.values()
        for s in shown
        if s.telling
        and not timeline.world[s.read].protocol.writes
        and timeline.world[s.read].protocol.required <= given
        and s.after.arguments.keys() <= given
    }
    best = min(good, key=lambda name: (len(timeline.world[name].protocol.parameters), name), default=None)
    return Verify(tool=best, support="observed") if best is not None else None


def _undo(facts: ToolFacts, timeline: Timeline) -> Undo | None:
    """What took away what a call of this tool made: each of its arguments is of that call, by answer or argument."""
    for name, remover in timeline.world.items():
        for removal in made_here(remover) if timeline.kinds[name] == "remove" else ():
            for sample in made_here(facts) if timeline.kinds[facts.name] in ("create", "update") else ():
                if sample.number > removal.number or noun_made(remover.protocol) != noun_made(facts.protocol):
                    continue
                found = {argument: _place_of(value, sample) for argument, value in removal.plain.items()}
                if found and all(found.values()):
                    return Undo(tool=name, arguments=found)
    return None


def _place_of(value: Json, sample: Sample) -> str:
    """Where a value stands in the answer of a call (a path), or among its arguments (`(name)`); empty: nowhere."""
    for record in records_of(sample):
        for (_, path), held in record.values.items():
            if "[]" not in path and not path.startswith("(") and text_of(held.value) == text_of(value):
                return path
    return next((f"({name})" for name, given in sample.plain.items() if given == value), "")
