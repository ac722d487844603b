"""An exception in the program: which call's result it misread, or whose result was empty."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from atc.attribute.blame import Candidate, Record, best, proves
from atc.attribute.facts import a_type, invocation, keys_there, snippet
from atc.attribute.filtered import dict_keys, filtered
from atc.attribute.mistake import own_mistake
from atc.attribute.paths import KEY, Path, at, general, text
from atc.attribute.refused import from_tool_error
from atc.attribute.region import region
from atc.attribute.rekeyed import rekeyed
from atc.attribute.suspects import Suspect, nothing, suspects
from atc.attribute.syntax import rooted
from atc.check.report import listed, spelled
from atc.types import Fault, FaultKind, Program
from protocols.jsontypes import Json
from sandbox.trace import Failure

_ITEMS_COUNTED = 20_000
_MAY_BE_PREVIEWED = 1_000_000
"""Characters of JSON beyond which a response may have exceeded `Limits.result_bytes`, which the trace does not tell."""


def from_exception(program: Program, failure: Failure, record: Record) -> Fault:
    """The fault behind an exception that is no ToolError."""
    layout, line = record.slicer.layout, failure.line
    found: list[Suspect] = []
    every: list[Candidate] = []
    for whole in (False, True):  # a statement over several lines may fail on another one than it is said to
        nodes = region(layout, line, failure.frames[-1].function, whole=whole) if line is not None else []
        found = suspects(failure, nodes, layout)
        every = [candidate for suspect in found for candidate in _behind(suspect, record)]
        if every:
            break
    chosen = best(every)
    if chosen is not None and not chosen.proven and (size := _too_large(chosen)):
        return _previewed(failure, chosen, size)
    if chosen is None or not _blamable(chosen, found, record):
        return own_mistake(program, failure, found, record)
    fault = told(failure, chosen, record)
    tied = [c for c in every if c.call.index != chosen.call.index and c.weight == chosen.weight and c.proven]
    return with_ties(fault, chosen, tied, record)


def with_ties(fault: Fault, chosen: Candidate, tied: Sequence[Candidate], record: Record) -> Fault:
    """The fault with the calls named that the facts do not tell apart from the one that it blames."""
    names = [record.facts.result_of(c.call, general(c.place.path)) for c in tied]
    names += [record.facts.result_of(call, general(chosen.place.path)) for call in chosen.others]
    calls = dict.fromkeys([*(c.call.index for c in tied), *(call.index for call in chosen.others)])
    calls.pop(chosen.call.index, None)
    if not calls or fault.call != chosen.call.index:
        return fault
    told = f"It could also be {listed(dict.fromkeys(names), most=3)}."
    return replace(fault, evidence=(*fault.evidence, told), candidates=(chosen.call.index, *calls))


def _behind(suspect: Suspect, record: Record) -> list[Candidate]:
    """Candidates of one suspect: what it reads; what gave the key it was asked for; or what should have filled it."""
    slicer = record.slicer
    known = slicer.sources(suspect.expr, suspect.path)
    if suspect.index is not None and suspect.role == "key":
        key = suspect.key
        asked = Suspect(suspect.index, "value", lambda v: type(v) is type(key) and bool(v == key), key=key)
        keyed = record.candidates(asked, slicer.sources(asked.expr))
        absent = Suspect(suspect.expr, "type", lambda v: v is None, (KEY,))
        odd = [c for c in record.candidates(absent, slicer.sources(suspect.expr, (KEY,))) if c.proven]
        return [*rekeyed(suspect, record), *odd, *record.candidates(suspect, [s for s in known if s.exact]), *keyed]
    found = record.candidates(suspect, known)
    if not _explained(suspect, record):
        return [*found, *_not_filled(suspect, found, record)]
    # The value is a constant of the program that something should have replaced.
    unfilled = Suspect(suspect.expr, "empty", nothing)
    control = [source.derived() for source in slicer.control(suspect.expr)]
    return [c for c in found if c.proven] or record.candidates(unfilled, control)


def _not_filled(suspect: Suspect, found: Sequence[Candidate], record: Record) -> list[Candidate]:
    """What should have filled a container that turned out empty, where nothing else explains that."""
    if suspect.role not in ("empty", "index") or any(candidate.proven for candidate in found):
        return []
    control = [source.derived() for source in record.slicer.control(rooted(suspect.expr))]
    filling = record.candidates(Suspect(suspect.expr, "empty", nothing), control)
    return [candidate for candidate in filling if candidate.proven]


def _explained(suspect: Suspect, record: Record) -> bool:
    """Whether a constant of the program can be the value that failed."""
    sources = record.slicer.sources(suspect.expr, suspect.path)
    return any(
        s.kind == "literal"
        and s.exact
        and isinstance(s.node, ast.Constant)
        and not s.path
        and suspect.fails(s.node.value)
        for s in sources
    )


def _blamable(chosen: Candidate, found: Sequence[Suspect], record: Record) -> bool:
    """Whether facts tie the failure to the call: the value fails, or no value of the program's own does."""
    source, role = chosen.source, chosen.suspect.role
    if chosen.proven or source.kind == "swallowed" or source.filters:
        return True
    if role == "index" and isinstance(chosen.place.value, str):  # a text that was taken apart
        return True
    return role not in ("key", "value") and source.exact and not any(_explained(s, record) for s in found)


def told(failure: Failure, chosen: Candidate, record: Record) -> Fault:
    """The fault in words, by what was asked of the value."""
    head = f"line {failure.line}: {failure.type}" + (f" {failure.message}" if failure.message else "")
    if chosen.source.kind == "swallowed":
        call = chosen.call
        told = f"{head}: {call.tool} (call {call.index}) had failed, and the program went on without its result"
        return from_tool_error(failure, call, record, head=told)
    if chosen.broken:
        return _reading(head, failure, chosen, record)
    if chosen.source.filters and not chosen.proven:
        return filtered(head, failure, chosen, record)
    if chosen.suspect.role == "empty" or _nothing(chosen, record):
        return _emptiness(head, failure, chosen, record)
    if chosen.suspect.role == "keyed":
        return _keyed_otherwise(head, failure, chosen, record)
    if chosen.suspect.role == "value" and chosen.suspect.key is not None:
        return _wrong_key(head, failure, chosen, record)
    return _reading(head, failure, chosen, record)


def _nothing(chosen: Candidate, record: Record) -> bool:
    """Whether the place holds no items, or the whole response says nothing."""
    place = chosen.place
    whole = place.path in ((), record.facts.prefix(chosen.call)) and chosen.suspect.role != "key"
    return place.missing is None and (place.value == [] or (whole and place.value in (None, {})))


def _fault(kind: FaultKind, message: str, failure: Failure, chosen: Candidate, path: Path, facts: list[str]) -> Fault:
    return Fault(
        kind=kind,
        message=message,
        call=chosen.call.index,
        tool=chosen.call.tool,
        path=text(path),
        line=failure.line,
        evidence=tuple(dict.fromkeys(facts)),
    )


def _reading(head: str, failure: Failure, chosen: Candidate, record: Record) -> Fault:
    """The value is there, but is not what the program took it for."""
    call, place, suspect, facts = chosen.call, chosen.place, chosen.suspect, record.facts
    asked = suspect.key if isinstance(suspect.key, str) else None
    missing = place.missing if isinstance(place.missing, str) else asked if suspect.role == "key" else None
    where = facts.result_of(call, place.path)
    if missing is not None or suspect.role == "key":
        shown = missing if missing is not None else suspect.key
        what = f"{where} has no key {shown!r}; {keys_there(place.value)}"
    else:
        what = f"{where} is {a_type(place.value)}" + _hint(place.value, suspect)
    wanted = (*place.path, missing) if missing is not None else place.path
    evidence = [f"`{spelled(suspect.expr)}` on line {suspect.expr.lineno} is {where}."] if place.path else []
    evidence += _unwrapped(chosen, record)
    if isinstance(place.value, Mapping) and (key := missing or asked) is not None:
        evidence += facts.about_key(call, place.path, place.value, key)
    evidence += _how_many(chosen, record)
    evidence += facts.about_place(call, place.path, place.value)
    evidence += list(facts.about_schema(call, wanted)) or list(facts.about_schema(call, place.path))
    if "JSON object must be" in failure.message:
        evidence.append("Results are parsed already: do not call json.loads on them.")
    drift = facts.broken_promise(call, place.path, place.value, missing=missing)
    if drift:
        evidence += [f"The response of {call.tool} departs from its schema: {said}." for said in call.drift[:3]]
    return _fault("drift" if drift else "misread_result", f"{head}: {what}.", failure, chosen, wanted, evidence)


def _how_many(chosen: Candidate, record: Record) -> Iterator[str]:
    """Whether all items are like the one that failed, or a few."""
    place, source = chosen.place, chosen.source
    if not chosen.proven or not any(isinstance(step, int) for step in place.path):
        return
    every = islice((p for call in record.calls(source) for p in record.places(call, source.path)), _ITEMS_COUNTED)
    verdicts = [proves(chosen.suspect, p) for p in every]
    if len(verdicts) > 1:
        alike = general(place.path if place.missing is None else (*place.path, place.missing))
        where = record.facts.place(chosen.call, alike)
        yield f"So it is with {sum(verdicts)} of the {len(verdicts)} items that the program can have met at `{where}`."


def _hint(value: Json, suspect: Suspect) -> str:
    """What to do with a value of this type."""
    if isinstance(value, Mapping):
        return f"; {keys_there(value)}" + ('; write ["key"], not .key' if suspect.role == "attribute" else "")
    if isinstance(value, list) and value:
        return "; take an element with [0] or loop over it"
    if isinstance(value, str) and isinstance(suspect.key, str):
        return f" ({snippet(value, most=60)}) and has no keys"
    return f" ({snippet(value, most=60)})" if value is not None else "; test that it is not None before using it"


def _unwrapped(chosen: Candidate, record: Record) -> Iterator[str]:
    """Whether the program asked for the one field that it had been given already."""
    call, key = chosen.call, chosen.suspect.key
    prefix = record.facts.prefix(call)
    parents = record.slicer.layout.parents
    match parents.get(id(parents.get(id(chosen.suspect.expr)))):
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str() as asked), *_]):
            key = asked
    if prefix and chosen.place.path == prefix and key == prefix[0]:
        inner = a_type(chosen.place.value)
        yield f"{call.tool} gives the value of {key!r} itself, {inner}: do not write [{key!r}] after it."


def _too_large(chosen: Candidate) -> int:
    """The size of a response that may have been too large for the program to get; 0 for one that was not."""
    size = len(json.dumps(chosen.call.result))
    return size if size > _MAY_BE_PREVIEWED and chosen.source.exact else 0


def _previewed(failure: Failure, chosen: Candidate, size: int) -> Fault:
    """The failure does not follow from the full response: the program got a preview in its place."""
    call = chosen.call
    what = (
        f"the result of {call.tool} (call {call.index}) is too large ({size:,} characters), so only a preview was given"
    )
    evidence = [
        f"The call was {invocation(call)}.",
        "A preview is an object with the keys _truncated, _bytes, _shape and _preview.",
        f"Call {call.tool} with arguments that make its result smaller.",
    ]
    return _fault("misread_result", f"line {failure.line}: {failure.type}: {what}.", failure, chosen, (), evidence)


def _emptiness(head: str, failure: Failure, chosen: Candidate, record: Record) -> Fault:
    call, place, facts = chosen.call, chosen.place, record.facts
    evidence = [f"{invocation(call)} (call {call.index}) answered with {facts.answer(call)}."]
    evidence += facts.about_arguments(call, record.trace.calls)
    evidence += facts.about_schema(call, place.path)
    evidence.append("Test that the result is not empty before using it, or call with other arguments.")
    found = "0" if place.value == 0 else a_type(place.value)
    what = f"{facts.result_of(call, place.path)} is {found}"
    return _fault("empty_result", f"{head}: {what}.", failure, chosen, place.path, evidence)


def _keyed_otherwise(head: str, failure: Failure, chosen: Candidate, record: Record) -> Fault:
    """The keys of a dict were taken from one field; the key asked for stands in another one beside it."""
    call, place, key, facts = chosen.call, chosen.place, chosen.suspect.key, record.facts
    where = facts.result_of(call, general(place.path))
    beside = facts.result_of(call, place.path[:-1])
    what = f"the dict has no key {key!r}: its keys are {where}, such as {snippet(place.value, most=40)}"
    evidence = [f"The value {key!r} stands in another field of {beside}: {snippet(at(call.result, place.path[:-1]))}."]
    evidence += facts.about_schema(call, place.path)
    return _fault("misread_result", f"{head}: {what}.", failure, chosen, place.path, evidence)


def _wrong_key(head: str, failure: Failure, chosen: Candidate, record: Record) -> Fault:
    """A dict was asked for a key that came from this call's result, and has no such key."""
    call, place, key, facts = chosen.call, chosen.place, chosen.suspect.key, record.facts
    where = facts.result_of(call, place.path)
    evidence = [f"`{spelled(chosen.suspect.expr)}` on line {failure.line} was {key!r}, from {where}."]
    evidence += facts.about_schema(call, place.path)
    evidence += [f"The keys of the dict come from {origin}." for origin in dict_keys(failure, record)]
    parent = facts.result_of(call, place.path[:-1])
    evidence.append(f"Ask the dict with .get({key!r}), or use another field of {parent}.")
    what = f"the dict has no key {key!r}, which came from {where}"
    return _fault("misread_result", f"{head}: {what}.", failure, chosen, place.path, evidence)
