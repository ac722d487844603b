"""Drift: what of a tool is not as its protocol says any more, as far as new answers show (`atc probe --check`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from jsonschema_rs import ValidationError

from probing.caller import ApprovalCheck, Caller, NotCalled, needs_no_approval
from probing.experiments import discover
from probing.infer import infer, nodes
from probing.keys import document_words
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
from protocols.response import one_line
from protocols.schema import type_name
from protocols.toolbox import Toolbox
from protocols.validate import BoundedValidator, TooExpensive, validator

Severity = Literal["breaking", "risky", "harmless"]
"""*breaking*: a program that uses it as the protocol says fails. *risky*: it may fail on some answers, or the evidence
is thin. *harmless*: no program can notice."""
_WORST = ("breaking", "risky", "harmless")
CALLS = 3
"""Of one tool."""
_ENOUGH = 3
"""Records without a field that all had, from which it counts as gone."""
_NO_TOOL = {404, 405, 410, 501}
_DENIED = {401, 403, 407}
_NO_ARGUMENTS = "no arguments are known with which it answers; keep the folder's log"


@dataclass(frozen=True, slots=True)
class DriftChange:
    """What changed: `path` is a response path (`airports[].code`); empty for the tool as a whole.

    `text` says it in a clause, with the counts that support it.
    """

    tool: str
    path: str
    kind: str
    severity: Severity
    text: str


@dataclass(frozen=True, kw_only=True)
class DriftReport:
    """What came of a check of so many `tools`: the changes, the worst first.

    `unchecked` says of tools why nothing, or not all, is known of them.
    """

    tools: int
    changes: tuple[DriftChange, ...] = ()
    unchecked: Mapping[str, str] = field(default_factory=dict)
    calls: int = 0

    @property
    def breaking(self) -> bool:
        """Whether a program fails on a change."""
        return any(change.severity == "breaking" for change in self.changes)


def compare_answers(old: ToolProtocol, facts: ToolFacts) -> list[DriftChange]:
    """What changed, the worst first. `facts` are of new calls alone, each with arguments that worked before."""
    changes = [*_refusals(old, facts), *_departures(old, facts)]
    return sorted(
        changes, key=lambda change: (_WORST.index(change.severity), change.path, change.kind)
    )


def _departures(old: ToolProtocol, facts: ToolFacts) -> Iterator[DriftChange]:
    """Where answers break the old schema, a change for each place and clause; then the fields that are new."""
    replies = [sample.response for sample in facts.done]
    known = {path for path, _ in nodes(old.output_schema or {})}
    now = dict(nodes(infer(replies, words=document_words(old))))
    judge = BoundedValidator(old.output_schema or {})
    checks = validator(old.output_schema or {})
    found: dict[tuple[str, str], list[ValidationError]] = {}
    for reply in replies:
        try:
            departs = not judge.is_valid(reply)
        except TooExpensive as problem:
            yield DriftChange(
                old.name,
                "",
                "departs",
                "risky",
                f"an answer is not compared with its schema: {problem}",
            )
            continue
        for error in checks.iter_errors(reply) if departs else ():
            keyword = error.kind.name
            path = _path_of(error.instance_path, known)
            if keyword == "required":
                path = f"{path}.{error.kind.as_dict()['property']}".lstrip(".")
            found.setdefault((path, keyword), []).append(error)
    for (path, keyword), errors in found.items():
        shown = repr(path) if path else "the response"
        times = len(errors)
        if keyword == "required":
            seen = old.evidence.observations
            before = f"it was in all of {seen} answers" if seen else "it was always there"
            gone = path not in now
            text = f"{shown} is {'in none of' if gone else 'missing in'} {times} records; {before}"
            severity: Severity = "breaking" if gone and times >= _ENOUGH else "risky"
            yield DriftChange(old.name, path, "removed" if gone else "optional", severity, text)
        elif keyword == "type":
            kinds = {type_name(error.instance) for error in errors}
            wanted = errors[0].kind.as_dict()["types"]
            slight = kinds == {"null"} or (kinds <= {"null", "number"} and "integer" in wanted)
            text = f"{shown} is {' or '.join(sorted(kinds))} in {times} places, and was {' or '.join(wanted)}"
            yield DriftChange(old.name, path, keyword, "risky" if slight else "breaking", text)
        else:
            text = f"{shown} departs in {times} places: {one_line(errors[0].message, limit=120)}"
            yield DriftChange(
                old.name,
                path,
                keyword,
                "breaking" if keyword in ("anyOf", "oneOf") else "risky",
                text,
            )
    records = {path for path, node in nodes(old.output_schema or {}) if node.get("properties")}
    for path in dict.fromkeys(now.keys() - known):
        if path.rpartition(".")[0] in records and not path.endswith(("*", "[]")):
            yield DriftChange(old.name, path, "new_field", "harmless", f"{path!r} is new")


def _path_of(place: Iterable[str | int], known: Collection[str]) -> str:
    """A place in an answer as a response path: `films[].title`, `rates.*` for any key of a map."""
    path = ""
    for step in place:
        named = f"{path}.{step}".lstrip(".")
        any_key = f"{path}.*".lstrip(".")
        path = (
            f"{path}[]"
            if isinstance(step, int)
            else any_key
            if any_key in known and named not in known
            else named
        )
    return path


def _refusals(old: ToolProtocol, facts: ToolFacts) -> Iterator[DriftChange]:
    """What it means that calls are refused. A failure of the service (5xx, no answer) says nothing of the tool."""
    refused = [s for s in facts.samples if s.outcome == "refused"]
    if not refused:
        return
    whole = f"{len(refused)} of {len(facts.samples)} calls that were answered before"
    statuses = {sample.status for sample in refused}
    said = f"“{one_line(refused[0].error, limit=120)}”"
    if statuses <= _DENIED:
        yield DriftChange(
            old.name,
            "",
            "denied",
            "risky",
            f"{whole} are not let in: {said}; look at the credential",
        )
    elif not statuses <= _NO_TOOL:
        yield DriftChange(old.name, "", "refused", "breaking", f"{whole} are refused: {said}")
    elif facts.done or (statuses == {404} and len(refused) == 1 and refused[0].arguments):
        yield DriftChange(
            old.name, "", "not_found", "risky", f"{whole} find nothing any more: {said}"
        )
    else:
        yield DriftChange(
            old.name, "", "gone", "breaking", f"{whole} find nothing any more: {said}"
        )


def earlier_samples(folder: Path) -> list[Sample]:
    """The samples of the probing that wrote `folder`; none where its log is gone.

    Raises:
        LogUnreadable: it cannot be read, or is being written.
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
    held: ApprovalCheck = needs_no_approval,
) -> DriftReport:
    """Call the reads among `toolbox` again and compare their answers with their protocols.

    `toolbox` holds the folder's protocols, bound to the live tools. `log` is a fresh one, so that each call is made.
    Arguments are those of `earlier` samples that were done, then those of examples; a tool of which none are known is
    probed with what others answer now. Nothing is raised for what a tool does.
    """
    settings = settings or ProbeSettings()
    session = Session(
        toolbox, log, Caller(toolbox, log, settings, watch=watch, held=held), settings, watch=watch
    )
    session.round = 1  # a chain round: with values of other tools
    old = session.protocols
    unchecked = {
        name: "it may change something, so it is not called"
        for name in old
        if name not in session.reads
    }
    removers = {name for name, protocol in old.items() if likely_action(protocol)[0] == "remove"}
    gone = {
        repr(value)
        for s in earlier
        if s.done and s.tool in removers
        for value in s.plain_arguments.values()
    }
    kept = [
        s
        for s in earlier
        if s.done and not any(repr(value) in gone for value in s.plain_arguments.values())
    ]
    known = {
        name: list(_find_known_arguments(old[name], [s for s in kept if s.tool == name]))
        for name in session.reads
    }
    for name in [
        *sorted(session.reads, key=lambda name: not known[name]),
        *(n for n in known if not known[n]),
    ]:
        try:
            for arguments in known[name][:CALLS]:
                session.call(name, arguments, purpose="check")
            if not known[name]:
                discover(session, name, attempts=CALLS)
        except NotCalled as refusal:
            if not any(log.samples_of(name)):
                unchecked[name] = str(refusal)
    # A call with guessed arguments that is refused says nothing.
    facts = {
        n: learn(p, [s for s in log.samples_of(n) if s.done or s.purpose == "check"])
        for n, p in old.items()
    }
    changes = {name: compare_answers(protocol, facts[name]) for name, protocol in old.items()}
    for name in session.reads:
        if not facts[name].done and not changes[name]:
            last = next((s.error for s in facts[name].samples), "")
            unchecked.setdefault(name, f"no answer came: {last}" if last else _NO_ARGUMENTS)
    worst = sorted(
        (c for found in changes.values() for c in found),
        key=lambda change: _WORST.index(change.severity),
    )
    return DriftReport(
        tools=len(old), changes=tuple(worst), unchecked=unchecked, calls=len(log.samples)
    )


def _find_known_arguments(protocol: ToolProtocol, done: list[Sample]) -> Iterator[ArgumentValues]:
    """Arguments with which a tool answered before: the fewest, then the most; then those of examples."""
    done.sort(key=lambda s: (not says_something(s.response), len(s.arguments), s.number))
    chosen = [s.arguments for s in (*done[:1], *sorted(done[1:], key=lambda s: -len(s.arguments)))]
    shown = (
        example.arguments
        for example in protocol.examples
        if protocol.required <= example.arguments.keys()
    )
    chosen += [
        {name: Value(value, ValueOrigin(kind="given")) for name, value in one.items()}
        for one in shown
    ]
    chosen += [] if protocol.required or protocol.evidence.level == "guessed" else [{}]
    yield from {repr({n: v.value for n, v in one.items()}): one for one in chosen}.values()
