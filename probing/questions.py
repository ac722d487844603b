"""What is asked of one tool: how it is called, then what it takes and refuses.

A question gives calls that would answer it, as long as the facts leave it open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

from probing.facts import STRANGER, ArgumentFacts, ToolFacts, compatible, usable
from probing.invent import bogus
from probing.kinds import repeats_harmlessly
from probing.names import text_of
from probing.samples import MADE_UP, Arguments, Origin, Purpose, Sample, Value
from probing.session import Session, next_arguments, taught
from probing.values import sizes_pages
from protocols.jsontypes import Json
from protocols.protocol import PythonBinding
from protocols.words import snake

_VARIED = 3
"""Calls with other values of the arguments that are needed: one answer rarely shows all that a record can hold."""
_FAR: tuple[tuple[str, frozenset[str], Json], ...] = (
    ("maximum", frozenset({"integer", "number"}), 1_000_000),
    ("minimum", frozenset({"integer", "number"}), -1),
    ("maxLength", frozenset({"string"}), "x" * 300),
)
_TELLING = frozenset({"type", "enum", "range", "length", "pattern", "format"})

Question = Callable[[Session, ToolFacts, Sample], Iterable[tuple[Purpose, Mapping[str, Value]]]]


def discover(session: Session, tool: str, *, attempts: int | None = None) -> None:
    """Call `tool` until a response says something, values run out, or it refuses without teaching anything new.

    Each call gives the arguments that are known to be needed. In round 0 a tool is alone: no value of another tool's
    response is used.

    Raises:
        NotCalled: the tool may not be called, or not any more.
    """
    vain, patience = 0, session.settings.attempts if attempts is None else attempts
    while not session.facts(tool).fruitful and vain < patience:
        before = session.facts(tool)
        arguments = next_arguments(session, before, alone=session.round == 0)
        if arguments is None:
            break
        private = {name for name, argument in before.arguments.items() if argument.refused or argument.not_found}
        if vain and all(value.origin == MADE_UP for name, value in arguments.items() if name in private):
            break  # a second made-up id teaches no more than the first did
        session.call(tool, arguments, purpose="discover")
        vain += not taught(before, session.facts(tool))


def sharpen(session: Session, tool: str, *, reserve: int = 0) -> None:
    """Ask all questions about a tool that answers; `reserve` calls of its budget are left for others.

    Raises:
        NotCalled: the tool may not be called any more.
    """
    questions: tuple[Question, ...] = (_without, _wrong, _more)
    if tool not in session.reads:
        harmless = repeats_harmlessly(session.protocols[tool])
        questions = (_without, _wrong, _optional, _beyond) if harmless else (_wrong,)
    else:
        questions = (*questions, _optional, _other, _nowhere, _beyond, _stranger)
    for question in questions:
        while session.caller.left(tool) > reserve:
            facts = session.facts(tool)
            if facts.base is None:
                return
            asked = next((q for q in question(session, facts, facts.base) if not session.called(tool, q[1])), None)
            if asked is None:
                break
            session.call(tool, asked[1], purpose=asked[0])


def _without(_: Session, facts: ToolFacts, start: Sample) -> Iterator[tuple[Purpose, Arguments]]:
    """Is each argument needed? Leave it out."""
    for name in start.arguments:
        if name in facts.arguments and facts.arguments[name].required is None:
            yield "omit", {n: v for n, v in start.arguments.items() if n != name}


def _wrong(_: Session, facts: ToolFacts, start: Sample) -> Iterator[tuple[Purpose, Arguments]]:
    """What must each argument be? Give those of which nothing is known a wrong value, all at once.

    Many tools name all that is wrong; of one that names the first alone, the rest is asked again.
    """
    asked = [s for s in facts.samples if s.purpose == "refuse"]
    silent = {name for s in asked if not s.done and not facts.said.get(s.number) for name in s.arguments}
    wrong = {n: value for n, argument in facts.arguments.items() if _open(argument) and (value := bogus(argument))}
    if together := {name: value for name, value in wrong.items() if name not in silent}:
        yield "refuse", {**start.arguments, **together}
    yield from (("refuse", {**start.arguments, name: value}) for name, value in wrong.items() if name in silent)


def _more(_: Session, facts: ToolFacts, start: Sample) -> Iterator[tuple[Purpose, Arguments]]:
    """Longer lists show rarer fields: the largest page that the tool allows, up to 100 records; and the second page."""
    for name, argument in facts.arguments.items():
        if argument.unknown:
            continue
        largest = [hint.maximum for hint in argument.told("range") if hint.maximum is not None]
        if largest and sizes_pages(name) and min(largest) > 1:
            yield "page", {**start.arguments, name: Value(int(min(100, *largest)), Origin(kind="error"))}
        if re.fullmatch(r"page(_?(no|num|number))?", snake(name)):
            yield "page", {**start.arguments, name: Value(2, MADE_UP)}


def _optional(session: Session, facts: ToolFacts, start: Sample) -> Iterator[tuple[Purpose, Arguments]]:
    """Is each argument accepted? Give those never accepted a good value: all at once, then each where that failed."""
    alone = [name for name in usable(facts) if not facts.arguments[name].accepted]
    unused = compatible(facts, alone, beside=start.arguments)
    together = [s for s in facts.samples if s.purpose == "vary" and len(s.arguments) > len(start.arguments) + 1]
    for wanted in (*([unused] if len(unused) > 1 and not together else []), *([name] for name in alone)):
        for chosen in islice(session.choices(facts.name, wanted, alone=False), 2):
            yield "vary", {**start.arguments, **chosen}


def _other(session: Session, facts: ToolFacts, start: Sample) -> Iterator[tuple[Purpose, Arguments]]:
    """Other values of the arguments that are needed: what a record may lack, and what it may hold instead."""
    done = [s for s in facts.done if s.purpose in ("vary", "discover") and s.arguments.keys() == start.arguments.keys()]
    failed = sum(sample.purpose == "vary" and not sample.done for sample in facts.samples)
    if not start.arguments or len(done) > _VARIED or failed >= _VARIED:
        return
    known = [name for name in start.arguments if name in facts.arguments]
    choices = islice(session.choices(facts.name, known, alone=False), 40)
    yield from (("vary", chosen) for chosen in choices)


def _nowhere(_: Session, facts: ToolFacts, start: Sample) -> Iterator[tuple[Purpose, Arguments]]:
    """What does the tool say of a thing that does not exist?"""
    lost = any(not s.done and s.status in (404, 410) for s in facts.samples)
    if lost or any(argument.not_found for argument in facts.arguments.values()):
        return
    for name, given in start.arguments.items():
        argument = facts.arguments.get(name)
        if argument is not None and argument.place == "path" and not isinstance(given.value, bool):
            value = given.value + 999_983 if isinstance(given.value, int) else _astray(text_of(given.value))
            yield "refuse", {**start.arguments, name: Value(value, MADE_UP)}
            return


def _beyond(_: Session, facts: ToolFacts, start: Sample) -> Iterator[tuple[Purpose, Arguments]]:
    """How large, how small, how long may a value be? Give those whose limit nobody told one far beyond it."""
    for end, kinds, far in _FAR:
        unlimited = {n: Value(far, MADE_UP) for n, a in facts.arguments.items() if _is_unlimited(a, end, kinds, far)}
        # A function computes with what it is given: two vast numbers may keep it busy for ever.
        together = not isinstance(facts.protocol.binding, PythonBinding)
        if unlimited and together:
            yield "refuse", {**start.arguments, **unlimited}
        for name, value in unlimited.items() if len(unlimited) > 1 or not together else ():
            yield "refuse", {**start.arguments, name: value}


def _stranger(_: Session, facts: ToolFacts, start: Sample) -> Iterator[tuple[Purpose, Arguments]]:
    """What arguments are there besides? Some tools list theirs when they are given one that they do not have."""
    if not any(STRANGER in sample.arguments for sample in facts.samples):
        yield "refuse", {**start.arguments, STRANGER: Value(1, MADE_UP)}


def _open(argument: ArgumentFacts) -> bool:
    """Whether nothing is known of what an argument must be, and no word was tried."""
    if argument.declared.keys() & {"type", "enum", "const", "$ref", "anyOf", "oneOf"} or argument.unknown:
        return False
    sent = (*argument.refused, *argument.accepted, *argument.not_found)
    tried = any(v.made_up and isinstance(v.value, str) and not v.value.isdigit() for v in sent)
    return not tried and not any(hint.kind in _TELLING for hint in argument.hints)


def _is_unlimited(argument: ArgumentFacts, end: str, kinds: frozenset[str], far: Json) -> bool:
    """Whether an argument is of one of these types, and nobody told where it ends."""
    made = [v.value for v in argument.accepted if v.origin.kind in ("generated", "model")]
    told = set(argument.types) or ({"string"} if any(isinstance(v, str) and not v.isdigit() for v in made) else set())
    kind, side = ("length", "maximum") if end == "maxLength" else ("range", end)
    limited = any(h.kind == kind and getattr(h, side) is not None for h in argument.hints)
    listed = any(h.kind in ("enum", "pattern", "format") for h in argument.hints) and "string" in kinds
    declared = argument.declared.keys() & {end, "enum", "pattern", "format", f"exclusive{end.title()}"}
    given = any(v.value == far for v in (*argument.accepted, *argument.refused, *argument.not_found))
    closed = limited or listed or declared or given or argument.unknown or argument.place == "path"
    return bool(told & kinds) and not closed


def _astray(text: str) -> str:
    """A text of the same shape that is most likely nobody's."""
    end = "9" if text[-1:].isdigit() else "Z" if text[-1:].isupper() else "z"
    return end * len(text) if text.isdigit() else text[:-3] + end * min(3, len(text))
