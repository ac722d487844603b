"""Experiments with one tool: how to call it, and which arguments it accepts and refuses.

An experiment is a generator that proposes calls, for example calls that each leave out one
argument. After each call the generator is created anew, and it proposes nothing more as soon as the
replies have answered the question of the experiment.
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
from protocols.schema import Json

_VARIED = 3
"""Number of calls that repeat a successful call with other values of its arguments.

One response rarely shows all fields of a record."""

ATTEMPTS = 6
"""Maximum number of failed calls of one tool in one round (N in the ATC paper)."""

ProposedCalls = Iterator[tuple[Purpose, ArgumentValues]]
"""The (purpose, arguments) pairs of the calls that an experiment proposes."""


def discover(session: Session, tool: str, *, attempts: int = ATTEMPTS) -> None:
    """Call a tool until a response contains data.

    Stop also if no untried values are left, or if `attempts` calls failed. Each call has the
    arguments that are known to be needed. In the first round of a probing run (0), values from
    other tools are not used.

    Raises:
        NotCalled: the tool may not be called (any more).
    """
    for attempt in range(attempts):
        facts = session.facts(tool)
        if facts.fruitful:
            break
        arguments = next_arguments(session, facts, alone=session.round == 0, beside={})
        if arguments is None:
            break
        if attempt and all(
            value.origin == GENERATED_ORIGIN
            for name, value in arguments.items()
            if facts.arguments[name].refused or facts.arguments[name].not_found
        ):
            break  # a second invented id teaches no more than the first
        session.call(tool, arguments, purpose="discover")


def sharpen(session: Session, tool: str, *, reserve: int = 0) -> None:
    """Run all experiments with a tool that already answered a call successfully.

    An experiment tests which arguments the tool accepts or refuses, for example.

    Args:
        session: the state of the probing run.
        tool: the tool's name in its source, such as an OpenAPI document.
        reserve: the number of calls that must be left for other purposes.

    Raises:
        NotCalled: the tool may not be called any more.
    """
    experiments: tuple[Callable[..., ProposedCalls], ...] = (
        _omit_argument,
        _wrong_value,
        _optional_arguments,
        _vary_values,
        _missing_resource,
    )
    if tool not in session.reads:
        # Each call of a tool that sends messages or pays reaches a person.
        reaches_people = set(snake(tool).split("_")[:2]) & (SENDS | PAYS | TELLS)
        harmless = (_omit_argument, _wrong_value, _optional_arguments)
        experiments = (_wrong_value,) if reaches_people else harmless
    for experiment in experiments:
        while session.caller.remaining_calls(tool) > reserve:
            facts = session.facts(tool)
            if facts.base is None:
                return
            for purpose, arguments in experiment(session, facts, facts.base):
                if not session.was_called(tool, arguments):
                    session.call(tool, arguments, purpose=purpose)
                    break
            else:
                break  # all calls of this experiment were made


def _omit_argument(session: Session, facts: ToolFacts, start: Sample) -> ProposedCalls:
    """Yield calls that leave out one argument, to see whether it is required."""
    for name in start.arguments:
        rest = {n: v for n, v in start.arguments.items() if n != name}
        if name in facts.arguments:
            is_open = facts.arguments[name].required is None
        else:  # a guessed argument; the created record must still carry the mark
            is_open = any(session.created.mark.is_in(value.value) for value in rest.values())
        if is_open:
            yield "omit", rest


def _wrong_value(_: Session, facts: ToolFacts, start: Sample) -> ProposedCalls:
    """Yield calls with a nonsense word, because the error replies may state what is valid.

    In the first call all arguments are wrong, because many tools report all mistakes at once. For
    tools that report only the first mistake, calls with one wrong value each follow.
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
    """Yield calls with likely values for arguments that were never accepted.

    The first call has all these arguments. If it fails, each argument is tried alone.
    """
    # An argument that was refused several times is left out, so that the others are tried.
    open_arguments = [
        name
        for name in facts.usable
        if not facts.arguments[name].accepted and len(facts.arguments[name].refused) < _VARIED
    ]
    was_tried_together = any(
        sample.purpose == "vary" and len(sample.arguments) > len(start.arguments) + 1
        for sample in facts.samples
    )
    sets = [[name] for name in open_arguments]
    if len(open_arguments) > 1 and not was_tried_together:
        sets.insert(0, open_arguments)
    for wanted in sets:
        for chosen in islice(session.choices(facts.name, wanted, alone=False), 2):
            yield "vary", {**start.arguments, **chosen}


def _vary_values(session: Session, facts: ToolFacts, start: Sample) -> ProposedCalls:
    """Yield calls with other values of the arguments, to see more fields of the records."""
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
    """Yield a call with the id of a record that does not exist, to see the error reply.

    The id is sent in an argument that is in the URL path.
    """
    lost = any(not s.done and s.status in (404, 410) for s in facts.samples)
    if lost or any(argument.not_found for argument in facts.arguments.values()):
        return
    for name, given in start.arguments.items():
        is_path = name in facts.arguments and facts.arguments[name].place == "path"
        if is_path and not isinstance(given.value, bool):
            missing = Value(_missing_id(given.value), GENERATED_ORIGIN)
            yield "refuse", {**start.arguments, name: missing}
            return


def _missing_id(value: Json) -> Json:
    """Return an id that has the form of `value` and most likely does not exist."""
    if isinstance(value, int):
        return value + 999_983
    text = url_text(value)
    if text.isdigit():
        return "9" * len(text)
    return text[:-3] + ("ZZZ" if text.isupper() else "zzz")
