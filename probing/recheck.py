"""Calls read-only tools again and compares their answers with their stored protocols.

The command `atc probe --check` uses this module. `probing.drift` compares the answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from probing.caller import ApprovalCheck, Caller, NotCalled, needs_no_approval
from probing.drift import SEVERITIES, DriftReport, compare_answers
from probing.experiments import discover
from probing.samples import (
    FOLDER,
    ArgumentValues,
    Log,
    ProbeSettings,
    Sample,
    Value,
    ValueOrigin,
    Watch,
)
from probing.session import Session
from probing.tool_facts import ToolFacts, learn, says_something
from protocols.effects import likely_action
from protocols.protocol import ToolProtocol
from protocols.schema import JsonObject
from protocols.toolbox import Toolbox

CALLS = 3
"""Maximum number of calls of one tool during a check."""
_NO_ARGUMENTS = "no arguments are known with which it answers; keep the folder's log"


def earlier_samples(folder: Path) -> list[Sample]:
    """Return the logged calls of the probing run that wrote the protocols in `folder`.

    Each call has its answer. Return an empty list if the folder contains no log.

    Raises:
        LogUnreadable: the log cannot be read, or another process is writing it.
    """
    if not (folder / FOLDER / "samples.jsonl").is_file():
        return []
    with Log(folder) as log:
        return list(log.samples)


def recheck(
    toolbox: Toolbox,
    log: Log,
    *,
    settings: ProbeSettings | None = None,
    earlier: Sequence[Sample] = (),
    watch: Watch = lambda _: None,
    needs_approval: ApprovalCheck = needs_no_approval,
) -> DriftReport:
    """Call the read-only tools again and compare their answers with their protocols.

    The failure of a tool raises no exception but is part of the report.

    Args:
        toolbox: the tools with their stored protocols.
        log: a new, empty log, so that every call is made.
        settings: limits of the calls.
        earlier: the calls of the probing run that wrote the protocols. Their arguments are used
            again, followed by those of the protocols' examples. If no arguments of a tool are
            known, the tool is probed with values that the other tools return during the check.
        watch: called with each sample (a call with its answer) and with messages for the user.
        needs_approval: returns True for a call that needs the approval of a person.
    """
    settings = settings or ProbeSettings()
    session = Session(
        toolbox,
        log,
        Caller(toolbox, log, settings, watch=watch, needs_approval=needs_approval),
        settings,
        watch=watch,
    )
    session.round = 1  # a round that uses values of other tools
    old = session.protocols
    unchecked = {
        name: "it may change something, so it is not called"
        for name in old
        if name not in session.reads
    }
    usable = _without_removed_records(old, earlier)
    known = {
        name: list(_find_known_arguments(old[name], _samples_of(name, usable)))
        for name in session.reads
    }
    unchecked |= _call_reads_again(session, known)
    facts = {name: _facts_of_check(protocol, log) for name, protocol in old.items()}
    changes = {name: compare_answers(protocol, facts[name]) for name, protocol in old.items()}
    for name in session.reads:
        if not facts[name].done and not changes[name]:
            unchecked.setdefault(name, _why_unchecked(facts[name]))
    worst = sorted(
        (change for of_tool in changes.values() for change in of_tool),
        key=lambda change: SEVERITIES.index(change.severity),
    )
    return DriftReport(
        tools=len(old), changes=tuple(worst), unchecked=unchecked, calls=len(log.samples)
    )


def _call_reads_again(
    session: Session, known: Mapping[str, Sequence[JsonObject]]
) -> dict[str, str]:
    """Call each read-only tool again, with arguments that worked before if any are known.

    Return the reason for each tool that was not called, keyed by the tool's name.
    """
    # Tools without known arguments come last, and again: they need the values of the others.
    order = sorted(session.reads, key=lambda name: not known[name])
    order += [name for name in known if not known[name]]
    not_called = {}
    for name in order:
        try:
            _call_again(session, name, known[name])
        except NotCalled as refusal:
            if not any(session.log.samples_of(name)):
                not_called[name] = str(refusal)
    return not_called


def _samples_of(tool: str, samples: Sequence[Sample]) -> list[Sample]:
    return [sample for sample in samples if sample.tool == tool]


def _why_unchecked(facts: ToolFacts) -> str:
    """Return why a tool of which no call succeeded could not be checked."""
    last = next((sample.error for sample in facts.samples), "")
    return f"no answer came: {last}" if last else _NO_ARGUMENTS


def _without_removed_records(
    protocols: Mapping[str, ToolProtocol], samples: Sequence[Sample]
) -> list[Sample]:
    """Return the successful calls, except those for records that the probing run removed later.

    A call is left out if one of its arguments has a value with which a removing tool was called.
    """
    removers = {
        name for name, protocol in protocols.items() if likely_action(protocol)[0] == "remove"
    }
    done = [sample for sample in samples if sample.done]
    removed: set[str] = set()
    for sample in done:
        if sample.tool in removers:
            removed.update(map(repr, sample.plain_arguments.values()))
    return [
        sample for sample in done if removed.isdisjoint(map(repr, sample.plain_arguments.values()))
    ]


def _call_again(session: Session, tool: str, known: Sequence[ArgumentValues]) -> None:
    """Call a tool with arguments that worked before. If none are known, probe the tool.

    Raises:
        NotCalled: the tool may not be called (any more).
    """
    for arguments in known[:CALLS]:
        session.call(tool, arguments, purpose="check")
    if not known:
        discover(session, tool, attempts=CALLS)


def _facts_of_check(protocol: ToolProtocol, log: Log) -> ToolFacts:
    """Return what the calls of the check showed about one tool.

    Failed calls whose arguments were guessed are ignored.
    """
    samples = log.samples_of(protocol.name)
    return learn(protocol, [s for s in samples if s.done or s.purpose == "check"])


def _find_known_arguments(protocol: ToolProtocol, done: list[Sample]) -> Iterator[ArgumentValues]:
    """Yield the arguments of successful calls (`done`), then those of the examples in the protocol.

    Among the successful calls, one with few arguments comes first. The others follow, those with
    the most arguments first.
    """
    done.sort(key=lambda s: (not says_something(s.response), len(s.arguments), s.number))
    others = sorted(done[1:], key=lambda sample: -len(sample.arguments))
    chosen: list[ArgumentValues] = [sample.arguments for sample in (*done[:1], *others)]
    chosen += [
        _as_values(example.arguments)
        for example in protocol.examples
        if protocol.required <= example.arguments.keys()
    ]
    if not protocol.required and protocol.evidence.level != "guessed":
        chosen.append({})
    unique: dict[str, ArgumentValues] = {}
    for arguments in chosen:
        unique[repr({name: value.value for name, value in arguments.items()})] = arguments
    yield from unique.values()


def _as_values(arguments: JsonObject) -> ArgumentValues:
    """Return an example's arguments as `Value`s with the origin `given` (the description)."""
    return {name: Value(value, ValueOrigin(kind="given")) for name, value in arguments.items()}
