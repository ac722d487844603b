"""Instance discovery (paper, §4.1): find arguments with which a tool answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import islice

from probing.demands import compatible, needed, usable
from probing.facts import ArgumentFacts, ToolFacts
from probing.sample import Origin, Sample, Value
from probing.session import Session

_ENOUGH_ALONE = 5  # refusals without a reason of what a source says is enough
_LOOKED_AT = 12  # combinations of values, to find one that is new in most of them


def discover(session: Session, tool: str, *, round: int, attempts: int | None = None) -> bool:  # noqa: A002
    """Call `tool` until a response says something, values run out, or it refuses without teaching anything new.

    Each call gives the arguments that are known to be needed, so that what was given in a call that is done was
    enough. `attempts` is how often it may refuse so; None: as often as the settings say. In round 0 a tool is alone: no
    value of another tool's response is used. Gives whether the tool answered with anything in it, now or before.

    Raises:
        NotCalled: the tool may not be called, or not any more.
    """
    vain, alone = 0, round == 0
    patience = session.settings.attempts if attempts is None else attempts
    while not session.facts(tool).fruitful and vain < patience:
        before = session.facts(tool)
        arguments = next_arguments(session, before, alone=alone)
        if arguments is None:
            break
        if vain and all(_made_up(value) for name, value in arguments.items() if name in _private(before)):
            break  # a second made-up id teaches no more than the first did
        session.call(tool, arguments, purpose="discover", round=round)
        if not taught(before, session.facts(tool)):
            vain += 1
    return bool(session.facts(tool).fruitful)


def next_arguments(session: Session, facts: ToolFacts, *, alone: bool) -> dict[str, Value] | None:
    """The arguments of the next call that may be answered: those that are needed, with values not tried together yet.

    `None` where there are none: an argument without any value, or all combinations were tried.
    """
    for wanted in _sets(session, facts):
        choices = session.choices(facts.name, wanted, alone=alone)
        new = islice((chosen for chosen in choices if not session.called(facts.name, chosen)), _LOOKED_AT)
        if not _led_nowhere(facts):
            new = islice(new, 1)
        if (best := max(new, key=partial(_novelty, facts), default=None)) is not None:
            return best
    return None


def _led_nowhere(facts: ToolFacts) -> bool:
    """Whether the last call was well formed, and there was no such thing, or nothing in it."""
    return bool(facts.samples) and (facts.samples[-1].done or facts.samples[-1].status in (404, 410))


def _novelty(facts: ToolFacts, chosen: Mapping[str, Value]) -> tuple[int, int]:
    """How many arguments get a value that was not sent before: another season of the same player is little news.

    Those that were only ever given what was made up count first: nobody knows one of their values yet.
    """
    sent = {(name, repr(value.value)) for sample in facts.samples for name, value in sample.arguments.items()}
    guessed = {
        name for name in chosen if all(_made_up(s.arguments[name]) for s in facts.samples if name in s.arguments)
    }
    new = [name for name, value in chosen.items() if (name, repr(value.value)) not in sent]
    return sum(name in guessed for name in new) if len(guessed) < len(chosen) else 0, len(new)


def taught(before: ToolFacts, after: ToolFacts) -> bool:
    """Whether a call taught anything that can change the next one: a hint, an argument, a first answer."""
    if len(after.done) > len(before.done) and not before.done:
        return True
    return any(_known(argument) != _known(before.arguments.get(name)) for name, argument in after.arguments.items())


def base(facts: ToolFacts) -> Sample | None:
    """The call that others are varied from: of those whose response says something, one with fewest arguments."""
    return min(facts.fruitful or facts.done, key=lambda sample: (len(sample.arguments), sample.number), default=None)


def _sets(session: Session, facts: ToolFacts) -> list[list[str]]:
    """Which arguments to give: those needed. Where that was refused without a reason, more of them too.

    Then the set that was tried least goes first: no reply tells which argument is to blame. Where the source says which
    arguments are needed, other values of those are tried first.
    """
    first = needed(facts)
    if session.ledger.adds(facts.name):  # what a new record is called is said, lest it is called as another
        named = usable(facts) if not first else session.ledger.named_by(facts.name)
        first += compatible(
            facts, (name for name in named if name not in first and name in usable(facts)), beside=first
        )
    rest = [name for name in usable(facts) if name not in first and facts.arguments[name].required is None]
    dumb = [sample for sample in facts.samples if not sample.done and not facts.said[sample.number]]
    trusted = _ENOUGH_ALONE if facts.protocol.required else 0
    if len(dumb) <= trusted or not rest or facts.done:
        return [first]
    rest = compatible(facts, rest, beside=first)
    sets = [first, [*first, *rest], *([[*first, name] for name in rest] if len(rest) > 1 else [])]
    tried = [frozenset(sample.arguments) for sample in facts.samples]
    return sorted(sets, key=lambda wanted: tried.count(frozenset(wanted)))


def _known(argument: ArgumentFacts | None) -> tuple[object, ...]:
    """What is known of an argument that lets a better value be chosen."""
    if argument is None:
        return ()
    telling = {replace(hint, text="") for hint in argument.hints if hint.kind not in ("refused", "not_found")}
    return argument.required, frozenset(telling), any(hint.kind == "refused" for hint in argument.hints)


def _private(facts: ToolFacts) -> set[str]:
    """Arguments whose made-up values were refused or led nowhere before."""
    return {name for name, argument in facts.arguments.items() if argument.refused or argument.not_found}


def _made_up(value: Value) -> bool:
    return value.origin == Origin(kind="generated")
