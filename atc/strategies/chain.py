"""The chain of tools (ATC): one program for the whole task, repaired from facts when it fails."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from atc.attribute import attribute
from atc.check import check
from atc.doubt import doubts, unread_pages
from atc.events import AttemptEnded, ProgramWritten, ToolsChosen
from atc.grounding import made_up
from atc.mend import mend, read_every_page
from atc.meter import BudgetSpent, Meter
from atc.naming import look_up_answer
from atc.repair import correction, worth_repairing
from atc.retrieve.closure import with_producers
from atc.strategies.base import Parts
from atc.synthesize import opening, samples
from atc.types import Attempt, Fault, Finding, Program, Solution
from protocols.render import stubs, stubs_within, token_estimate
from protocols.toolbox import Toolbox
from sandbox.limits import Limits
from sandbox.trace import ToolCall

_FEW = 4
"""So few tools are never searched: the prompt sheds detail instead."""


_MENDING_ROUNDS = 3
"""Mending one thing may bring another to light."""


def solve(task: str, parts: Parts) -> Solution:
    """Retrieve, then write, check, execute, attribute and repair until an answer stands or the budget is spent."""
    config = parts.config
    meter = Meter(parts.ask, parts.observer, max_seconds=config.max_seconds, max_tokens=config.max_tokens)
    tools = retrieve(task, parts)
    messages = opening(task, tools, budget=parts.ask.prompt_tokens)
    attempts: list[Attempt] = []
    limit: str | None = None
    try:
        for round_ in range(config.max_repairs + 1):
            tried: list[Attempt] = []
            for program in samples(messages, meter.complete, count=config.samples, temperature=config.temperature):
                tried.append(attempt(task, program, tools, parts, meter, number=len(attempts), round_=round_))
                attempts.append(tried[-1])
                if _settled(tried, parts):
                    break
            if not tried:
                tried = [_without_program(round_)]
                attempts.append(tried[0])
            if _ended(tried, doubts_told=any(a.answer is not None for a in attempts if a.round < round_)):
                break
            messages += correction(worth_repairing(tried), parts.toolbox)
    except BudgetSpent as spent:
        limit = spent.limit
    return _solution(task, attempts, tools, meter, limit)


def retrieve(task: str, parts: Parts) -> Toolbox:
    """The tools that the prompt will hold: all where their full stubs fit it, else the best hits with their producers.

    All is better than a choice: no search can miss a tool, and the same beginning of every prompt is read only once.
    """
    toolbox, budget, most = parts.toolbox, parts.ask.prompt_tokens, parts.config.max_tools
    names: Sequence[str] = list(toolbox)
    if len(names) > _FEW and token_estimate(stubs(toolbox)) > budget:
        hits = parts.retriever.search(task, k=most).hits
        names = with_producers([hit.tool for hit in hits], toolbox, k=most) or names[:most]
    kept = stubs_within(toolbox.only(names), budget=budget)[1]
    parts.observer(ToolsChosen(tuple(kept), len(toolbox)))
    return kept


def attempt(
    task: str, program: Program, tools: Toolbox, parts: Parts, meter: Meter, *, number: int, round_: int
) -> Attempt:
    """Check the program; run it if nothing was found; blame what failed. `number` counts the run's attempts."""
    known = _with_named(program, tools, parts.toolbox)
    program, findings, mended = checked(task, program, known)
    parts.observer(ProgramWritten(number, program, findings, mended))
    trace = None
    if not findings:
        trace = parts.sandbox.run(program.source, known, limits=_limits(parts, meter), journal=parts.journal)
    result = Attempt(program, findings, trace, attribute(program, findings, trace, known), mended=mended, round=round_)
    result = _with_every_page(result, known, parts, meter)
    result = _with_names(task, result, parts, meter)
    result = _with_doubts(result, known, parts)
    parts.observer(AttemptEnded(number, result))
    return result


def _with_every_page(result: Attempt, tools: Toolbox, parts: Parts, meter: Meter) -> Attempt:
    """The attempt with all pages read, where it answered from the first ones.

    Whatever the first page held stands where it stood.
    """
    if result.answer is not None and result.trace is not None and not _wrote(result, parts):
        for unread in unread_pages(result.program, result.trace, tools):
            program = read_every_page(result.program, unread, tools)
            finding = Finding(code="first-page-only", message=f"{unread.tool}: {unread.evidence} was read.", line=1)
            result = _again(result, program, finding, tools, parts, meter)
    return result


def _with_names(task: str, result: Attempt, parts: Parts, meter: Meter) -> Attempt:
    """The attempt with ids in its answer looked up, where the task asks for a field that a lookup gives."""
    if result.answer is None or result.trace is None or _wrote(result, parts):
        return result
    program = look_up_answer(task, result.program, result.trace, result.answer, parts.toolbox)
    finding = Finding(code="id-printed", message=f"{result.answer[:40]!r} is no more than an id.", line=1)
    tools = _with_named(program, Toolbox(), parts.toolbox) if program else parts.toolbox
    return _again(result, program, finding, tools, parts, meter)


def _again(
    result: Attempt, program: Program | None, finding: Finding, tools: Toolbox, parts: Parts, meter: Meter
) -> Attempt:
    """The attempt with `program` run in its place; as it came where there is none, or it gives no answer.

    The journal answers the calls that were made already.
    """
    if program is None or any(found.certain for found in check(program, tools)):
        return result
    trace = parts.sandbox.run(program.source, tools, limits=_limits(parts, meter), journal=parts.journal)
    trace = replace(trace, calls=_as_made(trace.calls, result))
    mended = (*result.mended, finding)
    again = replace(result, program=program, trace=trace, fault=attribute(program, (), trace, tools), mended=mended)
    return again if again.answer is not None else result


def _as_made(calls: Sequence[ToolCall], before: Attempt) -> tuple[ToolCall, ...]:
    """The calls of a second run of one attempt, those that its first run made shown as made, not as reused."""
    made = [call for call in (before.trace.calls if before.trace else ()) if not call.reused]
    shown: list[ToolCall] = []
    for call in calls:
        first = next((m for m in made if call.reused and (m.tool, m.arguments) == (call.tool, call.arguments)), None)
        if first is not None:
            made.remove(first)
            call = replace(call, reused=False, seconds=first.seconds)
        shown.append(call)
    return tuple(shown)


def _with_doubts(result: Attempt, tools: Toolbox, parts: Parts) -> Attempt:
    if result.answer is None or result.trace is None or _wrote(result, parts):
        return result
    return replace(result, doubts=doubts(result.program, result.trace, result.answer, tools))


def checked(task: str, program: Program, tools: Toolbox) -> tuple[Program, tuple[Finding, ...], tuple[Finding, ...]]:
    """The program to run, what stops it, and what was mended in it; the program as it came where mending fails."""
    found = findings = _certain(task, program, tools)
    better = program
    for _ in range(_MENDING_ROUNDS):
        mended = mend(better, findings, tools) if findings else None
        if mended is None:
            break
        better, findings = mended, _certain(task, mended, tools)
        if not findings:
            return better, (), found
    return program, found, ()


def _certain(task: str, program: Program, tools: Toolbox) -> tuple[Finding, ...]:
    """What stops a program. What only may go wrong does not: running it tells, and many runs never meet it."""
    found = tuple(finding for finding in check(program, tools) if finding.certain)
    return (*found, *made_up(program, task, tools))


def _with_named(program: Program, tools: Toolbox, everything: Toolbox) -> Toolbox:
    """The prompt's tools and those that the program names besides: a tool that exists may be used unseen."""
    words = dict.fromkeys(re.findall(r"[^\W\d]\w*", program.source))
    return everything.only([*tools, *(word for word in words if word in everything and word not in tools)])


def _limits(parts: Parts, meter: Meter) -> Limits:
    limits = Limits(tool_calls=parts.config.max_calls)
    left = meter.seconds_left
    return limits if left is None else replace(limits, wall_seconds=max(1.0, min(limits.wall_seconds, left)))


def _settled(tried: Sequence[Attempt], parts: Parts) -> bool:
    """Whether a round needs no further sample.

    So it is when enough answers without doubts agree; and always once a program has written something or was stopped
    before a write: another sample would be another plan, with other writes.
    """
    if _paused(tried[-1]) or _wrote(tried[-1], parts):
        return True
    answers = Counter(_comparable(a.answer) for a in tried if a.answer is not None and not a.doubts)
    return bool(answers) and max(answers.values()) >= parts.config.votes


def _wrote(attempt: Attempt, parts: Parts) -> bool:
    """Whether a call of the attempt changed something, or may have."""
    calls = attempt.trace.calls if attempt.trace else ()
    return any(call.outcome in ("done", "unknown") and parts.toolbox[call.tool].protocol.writes for call in calls)


def _ended(tried: Sequence[Attempt], *, doubts_told: bool) -> bool:
    """Whether a round ends the run: with an answer beyond doubt, or one whose doubts the model has been told of."""
    return any(_paused(a) or (a.answer is not None and (doubts_told or not a.doubts)) for a in tried)


def _paused(attempt: Attempt) -> bool:
    failure = attempt.trace.failure if attempt.trace else None
    return failure is not None and failure.kind == "paused"


def _comparable(answer: str) -> str:
    return " ".join(answer.casefold().split())


def _elected(attempts: Sequence[Attempt]) -> str | None:
    """The answer that stands: without doubts before with, a later round's before an earlier's, then by agreement.

    Among equals the earliest sample's, which is the greedy one.
    """
    answered = [a for a in attempts if a.answer is not None]
    count = Counter((_comparable(a.answer or ""), bool(a.doubts), a.round) for a in answered)
    best = max(
        answered,
        key=lambda a: (not a.doubts, a.round, count[_comparable(a.answer or ""), bool(a.doubts), a.round]),
        default=None,
    )
    return best.answer if best else None


def _without_program(round_: int) -> Attempt:
    fault = Fault(kind="syntax", message="The reply held no Python program.")
    return Attempt(Program(""), (), None, fault, round=round_)


def draft(task: str, parts: Parts) -> tuple[Toolbox, Program | None, tuple[Finding, ...]]:
    """What `solve` would execute first, and what the check finds in it, without any call (`atc run --dry-run`)."""
    meter = Meter(parts.ask, parts.observer, max_seconds=parts.config.max_seconds, max_tokens=parts.config.max_tokens)
    tools = retrieve(task, parts)
    messages = opening(task, tools, budget=parts.ask.prompt_tokens)
    best: tuple[Program | None, tuple[Finding, ...]] = (None, ())
    for number, program in enumerate(
        samples(messages, meter.complete, count=parts.config.samples, temperature=parts.config.temperature)
    ):
        program, findings, mended = checked(task, program, _with_named(program, tools, parts.toolbox))
        parts.observer(ProgramWritten(number, program, findings, mended))
        if best[0] is None or len(findings) < len(best[1]):
            best = (program, findings)
        if not findings:
            break
    return tools, *best


def _solution(task: str, attempts: list[Attempt], tools: Toolbox, meter: Meter, limit: str | None) -> Solution:
    answer = _elected(attempts)
    paused = any(map(_paused, attempts))
    return Solution(
        task=task,
        attempts=tuple(attempts),
        status="solved" if answer is not None else "paused" if paused else "failed",
        answer=answer,
        tools=tuple(tools),
        usage=meter.usage,
        seconds=meter.seconds,
        limit=limit,
    )
