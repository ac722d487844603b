"""What a tool that answers takes and refuses: the calls that tell most, until the budget or the questions run out.

Each question is asked only while the facts leave it open, so that a tool whose replies say much costs few calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from probing.demands import compatible, usable
from probing.discover import base
from probing.effects.words import repeats_harmlessly
from probing.facts import ArgumentFacts, ToolFacts
from probing.gaps import gaps, records
from probing.gate.plan import reads
from probing.generate import bogus
from probing.pages import sizes_pages
from probing.sample import Origin, Purpose, Sample, Value
from probing.session import Session
from protocols.jsontypes import Json
from protocols.protocol import PythonBinding
from protocols.schema import types
from protocols.words import snake

VARIED, MOST_VARIED, ENOUGH = 3, 8, 100
"""Calls with other values of the arguments that are needed: one list rarely shows all that a record can hold. More
while a field was never anything but null, or a list never anything but empty; one where so many records were seen."""
_LOOKED_AT = 40  # combinations of values, to find one that is new in most of them
_FAR: tuple[tuple[str, frozenset[str], Json], ...] = (
    ("maximum", frozenset({"integer", "number"}), 1_000_000),
    ("minimum", frozenset({"integer", "number"}), -1),
    ("maxLength", frozenset({"string"}), "x" * 300),
)
_PAGES = frozenset({"page", "page_no", "page_num", "page_number", "pageno"})
_STRANGER = "no_such_argument"
_TELLING = frozenset({"type", "enum", "range", "length", "pattern", "format"})

Question = Callable[[Session, ToolFacts, Sample], Iterator[tuple[Purpose, dict[str, Value]]]]


def sharpen(session: Session, tool: str, *, round: int, reserve: int = 0, alone: bool = False) -> None:  # noqa: A002
    """Ask all questions about a tool that answers; `reserve` calls of its budget are left for others.

    `alone`: tools with better values may answer yet, so what other values give is asked later.

    Raises:
        NotCalled: the tool may not be called any more.
    """
    for question in _questions(session.facts(tool), alone=alone):
        while session.caller.left(tool) > reserve:
            facts = session.facts(tool)
            start = base(facts)
            if start is None:
                return
            asked = next((q for q in question(session, facts, start) if not session.called(tool, q[1])), None)
            if asked is None:
                break
            session.call(tool, asked[1], purpose=asked[0], round=round)


def _questions(facts: ToolFacts, *, alone: bool) -> tuple[Question, ...]:
    """What is asked of a write, is what it refuses, and what changes nothing more when it is done again."""
    if reads(facts.protocol):
        return _ALONE if alone else _QUESTIONS
    return (_without, _wrong, _optional, _beyond, _stranger) if repeats_harmlessly(facts.protocol) else (_wrong,)


def _without(_: Session, facts: ToolFacts, start: Sample) -> Iterator[tuple[Purpose, dict[str, Value]]]:
    """Is each argument needed? Leave it out."""
    for name in start.arguments:
        if facts.arguments[name].required is None:
            yield "omit", {n: v for n, v in start.arguments.items() if n != name}


def _wrong(_: Session, facts: ToolFacts, start: Sample) -> Iterator[tuple[Purpose, dict[str, Value]]]:
    """What must each argument be? Give those of which nothing is known a wrong value, all at once.

    Many tools name all that is wrong; of one that names the first alone, the rest is asked again.
    """
    asked = [s for s in facts.samples if s.purpose == "refuse"]
    silent = {name for s in asked if not s.done and not facts.said[s.number] for name in s.arguments}
    wrong = {
        name: value
        for name, argument in facts.arguments.items()
        if name not in silent and _open(argument) and (value := bogus(argument)) is not None
    }
    if wrong:
        yield "refuse", {**start.arguments, **wrong}
    for name in (name for name in facts.arguments if name in silent and _open(facts.arguments[name])):
        # Together they were refused without a word: one by one, the status at least tells.
        if (value := bogus(facts.arguments[name])) is not None:
            yield "refuse", {**start.arguments, name: value}


def _beyond(_: Session, facts: ToolFacts, start: Sample) -> Iterator[tuple[Purpose, dict[str, Value]]]:
    """How large, how small, how long may a value be? Give those whose limit nobody told one far beyond it."""
    for end, kinds, far in _FAR:
        unlimited = {
            name: Value(far, Origin(kind="generated"))
            for name, argument in facts.arguments.items()
            if _is_any(argument, kinds) and not _limited(argument, end) and not _given(argument, far)
        }
        # A function computes with what it is given: two vast numbers may keep it busy for ever.
        together = not isinstance(facts.protocol.binding, PythonBinding)
        if unlimited and together:
            yield "refuse", {**start.arguments, **unlimited}
        for name, value in unlimited.items() if len(unlimited) > 1 or not together else ():
            yield "refuse", {**start.arguments, name: value}


def _stranger(_: Session, facts: ToolFacts, start: Sample) -> Iterator[tuple[Purpose, dict[str, Value]]]:
    """What arguments are there besides? Some tools list theirs when they are given one that they do not have."""
    if not any(_STRANGER in sample.arguments for sample in facts.samples):
        yield "refuse", {**start.arguments, _STRANGER: Value(1, Origin(kind="generated"))}


def _optional(session: Session, facts: ToolFacts, start: Sample) -> Iterator[tuple[Purpose, dict[str, Value]]]:
    """Is each argument accepted? Give those never accepted a good value: all at once, then each where that failed."""
    unused = compatible(
        facts, (name for name in usable(facts) if not facts.arguments[name].accepted), beside=start.arguments
    )
    together = [s for s in facts.samples if s.purpose == "vary" and len(s.arguments) > len(start.arguments) + 1]
    sets = [unused] if len(unused) > 1 and not together else []
    alone = [name for name in usable(facts) if not facts.arguments[name].accepted]
    for wanted in (*sets, *([name] for name in alone)):
        for chosen in islice(session.choices(facts.name, wanted, alone=False), 2):
            yield "vary", {**start.arguments, **chosen}


def _more(_: Session, facts: ToolFacts, start: Sample) -> Iterator[tuple[Purpose, dict[str, Value]]]:
    """Longer lists show rarer fields: the largest page that the tool allows, up to 100 records; and the second page."""
    for name, argument in facts.arguments.items():
        largest = [h.maximum for h in argument.hints if h.kind == "range" and h.maximum is not None]
        if largest and sizes_pages(name) and argument.declared.get("maximum", largest[0]) and not _unknown(argument):
            value = int(min(100, *largest))
            if value > 1:
                yield "page", {**start.arguments, name: Value(value, Origin(kind="error"))}
    for name, argument in facts.arguments.items():
        if snake(name) in _PAGES and not _unknown(argument):
            yield "page", {**start.arguments, name: Value(2, Origin(kind="generated"))}


def _other(session: Session, facts: ToolFacts, start: Sample) -> Iterator[tuple[Purpose, dict[str, Value]]]:
    """Other values of the arguments that are needed: what a record may lack, and what it may hold instead."""
    done = [
        s
        for s in facts.done
        if s.purpose in ("vary", "discover", "model") and s.arguments.keys() == start.arguments.keys()
    ]
    failed = sum(sample.purpose == "vary" and not sample.done for sample in facts.samples)
    responses = [sample.response for sample in facts.done]
    wanted = MOST_VARIED if gaps(responses) else 1 if records(responses) >= ENOUGH else VARIED
    if not start.arguments or len(done) > wanted or failed >= VARIED:
        return
    known = {name: {repr(v.value) for v in facts.arguments[name].accepted} for name in start.arguments}
    choices = islice(session.choices(facts.name, list(start.arguments), alone=False), _LOOKED_AT)
    fresh = sorted(choices, key=lambda chosen: -sum(repr(v.value) not in known[n] for n, v in chosen.items()))
    yield from (("vary", chosen) for chosen in fresh)


def _nowhere(_: Session, facts: ToolFacts, start: Sample) -> Iterator[tuple[Purpose, dict[str, Value]]]:
    """What does the tool say of a thing that does not exist?"""
    if any(not s.done and s.status in (404, 410) for s in facts.samples) or any(
        a.not_found for a in facts.arguments.values()
    ):
        return
    for name, given in start.arguments.items():
        argument = facts.arguments[name]
        if argument.place == "path" and (value := _altered(given, argument)) is not None:
            yield "refuse", {**start.arguments, name: value}
            return


_ALONE: tuple[Question, ...] = (_without, _wrong, _more)
_QUESTIONS: tuple[Question, ...] = (*_ALONE, _optional, _other, _nowhere, _beyond, _stranger)


def _open(argument: ArgumentFacts) -> bool:
    """Whether nothing is known of what an argument must be."""
    if argument.declared.keys() & {"type", "enum", "const", "$ref", "anyOf", "oneOf"} or _unknown(argument):
        return False
    told = any(hint.kind in _TELLING for hint in argument.hints)
    sent = (*argument.refused, *argument.accepted, *argument.not_found)
    tried = any(v.origin.kind == "generated" and isinstance(v.value, str) and not v.value.isdigit() for v in sent)
    return not told and not tried


def _is_any(argument: ArgumentFacts, kinds: frozenset[str]) -> bool:
    told = {kind for hint in argument.hints for kind in hint.types} | set(types(argument.declared))
    made_up = [v.value for v in argument.accepted if v.origin.kind in ("generated", "model")]
    if not told and any(isinstance(value, str) and not value.isdigit() for value in made_up):
        told = {"string"}
    listed = any(hint.kind in ("enum", "pattern", "format") for hint in argument.hints)
    return bool(told & kinds) and not _unknown(argument) and not (listed and "string" in kinds)


def _limited(argument: ArgumentFacts, end: str) -> bool:
    kind, name = ("length", "maximum") if end == "maxLength" else ("range", end)
    told = any(hint.kind == kind and getattr(hint, name) is not None for hint in argument.hints)
    named = {end, "enum", "pattern", "format", f"exclusive{end.title()}"}
    return told or argument.place == "path" or bool(argument.declared.keys() & named)


def _given(argument: ArgumentFacts, value: Json) -> bool:
    return any(v.value == value for v in (*argument.accepted, *argument.refused, *argument.not_found))


def _unknown(argument: ArgumentFacts) -> bool:
    return any(hint.kind == "unknown" for hint in argument.hints)


def _altered(given: Value, argument: ArgumentFacts) -> Value | None:
    """A value of the same shape that is most likely nobody's: the beginning of one with the end of another."""
    match given.value:
        case bool() | None:
            return None
        case int():
            return Value(given.value + 999_983, Origin(kind="generated"))
        case str() if given.value.isdigit():
            return Value("9" * len(given.value), Origin(kind="generated"))
        case str() if given.value:
            return Value(_crossed(given.value, argument), Origin(kind="generated"))
        case _:
            return None


def _crossed(text: str, argument: ArgumentFacts) -> str:
    known = [v.value for v in argument.accepted if isinstance(v.value, str) and len(v.value) == len(text)]
    for other in known:
        for cut in range(len(text) - len(text) // 2, 0, -1):
            if (mixed := text[:cut] + other[cut:]) not in known:
                return mixed
    last = text[-1]
    return text[:-3] + ("Z" if last.isupper() else "9" if last.isdigit() else "z") * min(3, len(text))
