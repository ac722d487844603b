"""What is asked of one tool: how it is called, then what it takes and refuses.

A question gives calls that would answer it, as long as the facts leave it open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from probing.generated_values import make_bogus_value
from probing.name_distance import url_text
from probing.samples import GENERATED_ORIGIN, ArgumentValues, Purpose, Sample, Value
from probing.session import Session, next_arguments
from probing.tool_facts import ToolFacts
from protocols.naming import PAYS, SENDS, TELLS, snake

_VARIED = 3
"""Calls with other values of the arguments that are needed: one answer rarely shows all that a record can hold."""

ATTEMPTS = 6
"""Calls of one tool in one round (the paper's N) that it does not answer."""

ProposedCalls = Iterator[tuple[Purpose, ArgumentValues]]


def discover(session: Session, tool: str, *, attempts: int = ATTEMPTS) -> None:
    """Call `tool` until a response says something, values run out, or it refused so often.

    Each call gives the arguments that are known to be needed. In round 0 a tool is alone: no value of another tool's
    response is used.

    Raises:
        NotCalled: the tool may not be called, or not any more.
    """
    vain = 0
    while not session.facts(tool).fruitful and vain < attempts:
        before = session.facts(tool)
        arguments = next_arguments(session, before, alone=session.round == 0, beside={})
        if arguments is None:
            break
        private = {
            name
            for name, argument in before.arguments.items()
            if argument.refused or argument.not_found
        }
        if vain and all(
            value.origin == GENERATED_ORIGIN for name, value in arguments.items() if name in private
        ):
            break  # a second made-up id teaches no more than the first did
        session.call(tool, arguments, purpose="discover")
        vain += 1


def sharpen(session: Session, tool: str, *, reserve: int = 0) -> None:
    """Ask all questions about a tool that answers; `reserve` calls of its budget are left for others.

    Raises `NotCalled` where it may not be called any more.
    """
    questions: tuple[Callable[..., ProposedCalls], ...] = (
        _omit_argument,
        _wrong_value,
        _optional_arguments,
        _vary_values,
        _missing_resource,
    )
    if tool not in session.reads:
        harmless = not set(snake(tool).split("_")[:2]) & (
            SENDS | PAYS | TELLS
        )  # not where each tells or pays somebody
        questions = (
            (_omit_argument, _wrong_value, _optional_arguments) if harmless else (_wrong_value,)
        )
    for question in questions:
        while session.caller.remaining_calls(tool) > reserve:
            facts = session.facts(tool)
            if facts.base is None:
                return
            asked = next(
                (
                    q
                    for q in question(session, facts, facts.base)
                    if not session.was_called(tool, q[1])
                ),
                None,
            )
            if asked is None:
                break
            session.call(tool, asked[1], purpose=asked[0])


def _omit_argument(session: Session, facts: ToolFacts, start: Sample) -> ProposedCalls:
    """Is each argument needed? Leave it out."""
    for name in start.arguments:
        rest = {n: v for n, v in start.arguments.items() if n != name}
        if name in facts.arguments:
            open_ = facts.arguments[name].required is None
        else:  # a guess; without any mark nobody could tell whose record the call makes
            open_ = any(session.created.mark.is_in(value.value) for value in rest.values())
        if open_:
            yield "omit", rest


def _wrong_value(_: Session, facts: ToolFacts, start: Sample) -> ProposedCalls:
    """What must each argument be? Give a word that nobody knows, to all at once.

    Many tools name all that is wrong; of one that names the first alone, the rest is asked again.
    """
    wrong = {
        name: value
        for name, argument in facts.arguments.items()
        if (value := make_bogus_value(argument)) is not None
    }
    refused = [
        s
        for s in facts.samples
        if s.purpose == "refuse" and not s.done and not facts.refusal_hints.get(s.number)
    ]
    silent = {name for sample in refused for name in sample.arguments}
    together = {name: value for name, value in wrong.items() if name not in silent}
    if together:
        yield "refuse", {**start.arguments, **together}
    yield from (("refuse", {**start.arguments, name: value}) for name, value in wrong.items())


def _optional_arguments(session: Session, facts: ToolFacts, start: Sample) -> ProposedCalls:
    """Is each argument accepted? Give those never accepted a good value: all at once, then each where that failed."""
    left = [
        facts.arguments[name] for name in facts.usable
    ]  # one that is refused whatever it is leaves others a turn
    alone = [
        argument.name
        for argument in left
        if not argument.accepted and len(argument.refused) < _VARIED
    ]
    together = any(
        s.purpose == "vary" and len(s.arguments) > len(start.arguments) + 1 for s in facts.samples
    )
    for wanted in (
        *([alone] if len(alone) > 1 and not together else []),
        *([name] for name in alone),
    ):
        for chosen in islice(session.choices(facts.name, wanted, alone=False), 2):
            yield "vary", {**start.arguments, **chosen}


def _vary_values(session: Session, facts: ToolFacts, start: Sample) -> ProposedCalls:
    """Other values of the arguments that are needed: what a record may lack, and what it may hold instead."""
    done = [
        s
        for s in facts.done
        if s.purpose in ("vary", "discover") and s.arguments.keys() == start.arguments.keys()
    ]
    failed = sum(sample.purpose == "vary" and not sample.done for sample in facts.samples)
    if not start.arguments or len(done) > _VARIED or failed >= _VARIED:
        return
    known = [name for name in start.arguments if name in facts.arguments]
    for chosen in islice(session.choices(facts.name, known, alone=False), 40):
        yield "vary", chosen


def _missing_resource(_: Session, facts: ToolFacts, start: Sample) -> ProposedCalls:
    """What does the tool say of a thing that does not exist?"""
    lost = any(not s.done and s.status in (404, 410) for s in facts.samples)
    if lost or any(argument.not_found for argument in facts.arguments.values()):
        return
    for name, given in start.arguments.items():
        if (
            name in facts.arguments
            and facts.arguments[name].place == "path"
            and not isinstance(given.value, bool)
        ):
            text = url_text(given.value)
            astray = (
                "9" * len(text)
                if text.isdigit()
                else text[:-3] + ("ZZZ" if text.isupper() else "zzz")
            )
            value = given.value + 999_983 if isinstance(given.value, int) else astray
            yield "refuse", {**start.arguments, name: Value(value, GENERATED_ORIGIN)}
            return
