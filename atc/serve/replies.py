"""Building the replies of a gateway about a run: its calls and faults, and what to do next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import NotRequired, TypedDict

from atc.core.answers import attempt_value
from atc.core.messages import describe_result_headers, format_tool_call
from atc.core.program import Program
from atc.core.types import Attempt, Fault, Finding, Solution
from atc.pipeline.attribute.failed_calls import REMEDY_NEEDED
from atc.pipeline.response_notes import describe_unread
from protocols.files import described_at, replaced_at
from protocols.protocol import ProgramBinding
from protocols.schema import Json, JsonValue, shape
from protocols.toolbox import Toolbox
from sandbox.base import CallDeclined
from sandbox.frames import VALUE_CHARACTERS
from sandbox.trace import ToolCall


class FindingReply(TypedDict):
    """One error that the check found, with its line of code."""

    line: int
    code: str
    problem: str
    suggestion: NotRequired[str]


class FaultReply(TypedDict):
    """The fault of a program: its kind and message, the blamed call and the evidence."""

    kind: str
    problem: str
    line: NotRequired[int]
    blamed_call: NotRequired[str]
    evidence: NotRequired[list[str]]


class RunReply(TypedDict, total=False):
    """The reply about a run of a program, or of a single call.

    For a single call, `result` has the call's whole response, or `error` a message.
    """

    status: str
    run: str
    answer: JsonValue
    calls: list[str]
    reused: str
    warnings: list[str]
    findings: list[FindingReply]
    fault: FaultReply
    printed: JsonValue
    looked: JsonValue
    """The values that the program passed to `look`, in a list."""
    unknown_writes: list[str]
    orphans: list[str]
    notes: list[str]
    """What was not done as the settings ask, and what was left out or left unread."""
    next: str
    result: JsonValue
    error: str | None
    response: JsonValue
    files: list[dict[str, Json]]
    """The files that the program printed or returned, or that the call returned."""
    question: str
    """Why a question to the person was withdrawn."""


class CheckReply(TypedDict):
    """The reply about a program that was checked and not executed."""

    ok: bool
    findings: list[FindingReply]


class SearchReply(TypedDict):
    """The tools that fit a query, one line each, and the number of all tools."""

    tools: list[str]
    of: int


_CALLS_SHOWN = 30
_CUT = (
    f"The value has over {VALUE_CHARACTERS:,} characters and only the beginning of its"
    " text is here: print it, or"
    " a part of it."
)
_CALL_AGAIN = (
    "When a person has decided, or has done what the error asks for, make the same call again: it"
    " brings the answer, and nothing is sent twice."
)


def run_reply(solution: Solution, handle: str, shorten: Callable[[Json], JsonValue]) -> RunReply:
    """Return the reply to a client about the run of a program.

    The client can continue the run with `handle`. The function `shorten` replaces large values.
    """
    last = solution.attempts[-1]
    printed = last.trace.stdout.strip() if last.trace is not None else ""
    reply: RunReply = {"status": solution.status, "run": handle}
    if last.answer is not None:
        reply["answer"] = shorten(attempt_value(last))
    reply.update(_describe_calls(last.calls))
    if warnings := _warnings(last, printed):
        reply["warnings"] = warnings[:8]
    reply.update(_describe_failure(last))
    if solution.files:
        reply["files"] = [asdict(file) for file in solution.files]
    if last.answer is None and printed:
        reply["printed"] = shorten(printed)
    if last.trace is not None and last.trace.looked:
        reply["looked"] = shorten(list(last.trace.looked))
    if solution.unknown_writes:
        reply["unknown_writes"] = [*map(call_line, solution.unknown_writes)]
    if solution.orphans:
        reply["orphans"] = [*map(call_line, solution.orphans)]
    if solution.notes:
        reply["notes"] = [*solution.notes[:8]]
    if is_declined(solution):
        reply["status"] = "declined"
    elif solution.status == "paused":
        reply["next"] = next_step(solution, handle)
    elif last.only_looked:
        reply["status"] = "looked"
    return reply


def _describe_calls(calls: Sequence[ToolCall]) -> RunReply:
    """Return the first calls of a run, one line each, and how many calls were not made again.

    A call is not made again if the run has made it before and its result is stored. The result has
    the keys `calls` and `reused`. If there are no calls, it is empty.
    """
    if not calls:
        return {}
    more = [f"… {len(calls) - _CALLS_SHOWN} more"] if len(calls) > _CALLS_SHOWN else []
    described: RunReply = {"calls": [*map(call_line, calls[:_CALLS_SHOWN]), *more]}
    if reused := sum(call.reused for call in calls):
        described["reused"] = (
            f"{reused} of {len(calls)} calls were answered by the journal, not made again"
        )
    return described


def _describe_failure(attempt: Attempt) -> RunReply:
    """Return the errors that the check found before execution, or else the fault.

    The result has the key `findings` or `fault`. It is empty if there are neither errors nor a
    fault.
    """
    if attempt.findings:
        found = [describe_finding(finding, attempt.program) for finding in attempt.findings]
        return {"findings": found}
    return {} if attempt.fault is None else {"fault": describe_fault(attempt.fault)}


def _warnings(attempt: Attempt, printed: str) -> list[str]:
    """Return the reasons not to rely on an answer, as sentences.

    There are three: the answer was cut, the run's own checks doubt the answer, or responses violate
    their schemas. `printed` is the output of the program.
    """
    value = "" if printed else attempt.answer or ""  # the sandbox cuts long values
    cut = len(value) >= VALUE_CHARACTERS and value.endswith("…")
    drift = [f"{call.tool}: {clause}" for call in attempt.calls for clause in call.drift[:1]]
    return list(dict.fromkeys([*([_CUT] if cut else []), *attempt.doubts, *drift]))


def call_reply(solution: Solution, handle: str, toolbox: Toolbox) -> RunReply:
    """Return the reply to a client about a run that made a single call (see `Gateway.call`).

    The client can continue the run with `handle`. The reply has the full response in `result`, or a
    message in `error`.
    """
    last = solution.attempts[-1]
    status = "declined" if is_declined(solution) else solution.status
    reply: RunReply = {"status": status, "run": handle}
    called = toolbox.get(last.program.source.partition("(")[0])
    if (
        called is not None
        and isinstance(called.protocol.binding, ProgramBinding)
        and last.answer is not None
    ):
        reply["result"] = attempt_value(last)
        return reply
    call = last.calls[-1] if last.calls else None
    if call is None or call.error is not None:
        fault = "no call" if last.fault is None else last.fault.message
        reply["error"] = fault if call is None else call.remedy or call.error
        if status == "paused":
            reply["next"] = _CALL_AGAIN
    elif call.drift:
        departures = "; ".join(call.drift)
        reply["error"] = f"the response departs from its declared schema ({departures})"
        reply["response"] = call.result
    else:
        reply["result"] = call.result
        for path in call.files:
            if (info := described_at(call.result, path)) is not None:
                reply["result"] = replaced_at(reply["result"], path, str(info))
                reply.setdefault("files", []).append(asdict(info))
    if call is not None and call.error is None and call.tool in toolbox:
        described = (describe_unread(toolbox[call.tool], call), describe_result_headers(call))
        if notes := [sentence for sentence in described if sentence]:
            reply["notes"] = notes
    return reply


def call_line(call: ToolCall) -> str:
    """Return a call as one line: `line 3: get_film(film_id=7) → {title: string} · 12 ms`."""
    result = shape(call.result) if call.error is None else f"{call.outcome}: {call.error[:200]}"
    took = "reused" if call.reused else f"{call.seconds * 1000:.0f} ms"
    within = f"{call.within}: " if call.within else ""
    return f"line {call.line}: {within}{format_tool_call(call, most=80)} → {result[:300]} · {took}"


def describe_finding(finding: Finding, program: Program) -> FindingReply:
    """Return a JSON object that describes one error that the check found, with its line of code."""
    document: FindingReply = {
        "line": finding.line,
        "code": program.line(finding.line),
        "problem": finding.message,
    }
    if finding.suggestion and finding.suggestion not in finding.message:
        document["suggestion"] = finding.suggestion
    return document


def describe_fault(fault: Fault) -> FaultReply:
    """Return a JSON object for a fault, with its message, the blamed call and the evidence."""
    described: FaultReply = {"kind": fault.kind, "problem": fault.message}
    if fault.line is not None:
        described["line"] = fault.line
    if fault.tool is not None:
        described["blamed_call"] = fault.tool
    if fault.evidence:
        described["evidence"] = [fact.text for fact in fault.evidence]
    return described


def is_declined(solution: Solution) -> bool:
    """Return True if the run stopped because a person declined a call."""
    last = solution.attempts[-1]
    failure = last.trace.failure if last.trace is not None else None
    return last.paused and failure is not None and failure.type == CallDeclined.__name__


def next_step(solution: Solution, handle: str) -> str:
    """Return the sentences that tell a client what a person must do, and what to do then.

    They name no shell command, because the client could run the command and so decide for the
    person.
    """
    last = solution.attempts[-1]
    failure = last.trace.failure if last.trace is not None else None
    if failure is None:
        return (
            "Writes of earlier programs of this run stand that this one does not make:"
            " undo them in a program that"
            " continues it, or a person lets them stand."
        )
    if failure.type == REMEDY_NEEDED:
        return (
            f"{failure.message.rstrip('.')}. A person must do that, no program can. A variable is"
            " read when 'atc serve' starts, a file each time. When it is done, call"
            f" resume_run(run={handle!r}): the same program goes on, and nothing is sent twice."
        )
    return (
        f"{failure.message.rstrip('.')}. When a person has decided, call"
        f" resume_run(run={handle!r})."
    )
