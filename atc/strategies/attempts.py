"""One attempt: a program checked, mended where facts allow, executed, and blamed where it failed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from atc.attribute import attribute
from atc.check import check
from atc.doubt import doubts
from atc.events import AttemptEnded, ProgramWritten, ToolsNamed
from atc.grounding import fixed_answer, made_up
from atc.learned import observed
from atc.mend import look_up_names, mend
from atc.mend.lookups import look_up_answer
from atc.mend.paging import read_every_page, unread_pages
from atc.meter import Meter
from atc.strategies.base import Parts
from atc.typed import held_to
from atc.types import Attempt, FaultKind, Finding, Program
from protocols.protocol import ProgramBinding
from protocols.toolbox import Toolbox
from sandbox import inline
from sandbox.journal import canonical
from sandbox.limits import Limits
from sandbox.trace import ToolCall, Trace

NAME_FOR_ID, FIRST_PAGE, ID_PRINTED = "name-for-id", "first-page-only", "id-printed"
MISREAD: frozenset[FaultKind] = frozenset({"misread_result", "drift", "empty_result"})
"""Faults of a program that took a response for another than it was."""
_MENDING_ROUNDS = 3
"""Mending one thing may bring another to light."""


def attempt(
    task: str,
    program: Program,
    tools: Toolbox,
    parts: Parts,
    meter: Meter,
    *,
    number: int,
    round_: int,
    blind: bool,
    seen: str = "",
    look: bool = False,
    earlier: Sequence[Attempt] = (),
) -> Attempt:
    """Check the program; run it if nothing was found; blame what failed. `number` counts the run's attempts.

    `blind`: the model had seen no tool output when it wrote it; `seen` are results that it was shown: a value that
    stands there is not made up. `look`: the program is to show something, and need not answer. An attempt of the
    run's past is not made again. What only a response schema forbids runs where the `earlier` attempts show that the
    model insists, and nothing is written.
    """
    known = with_named(program, tools, parts.toolbox)
    program, findings, mended = checked(f"{task}\n{seen}", program, known, look=look, blind=blind)
    if insists(findings, program, known, earlier) and not writing_tools(program, known):
        findings = ()
    parts.consent.wrote(program, blind=blind)
    if (before := parts.past.attempt(number)) is not None:
        return before
    parts.observer(ProgramWritten(number, program, findings, mended))
    trace = None if findings else executed_trace(program, known, parts, meter)
    result = Attempt(program, findings, trace, None, mended=mended, round=round_)
    result = _blamed(result, known, parts, look=look)
    if trace is not None and not wrote(result, parts):
        result = _Mending(task, known, parts, meter, look).mended(result)
    if not look:
        result = held_to(result, parts.problem)
    parts.observer(AttemptEnded(number, result))
    return result


def _blamed(result: Attempt, tools: Toolbox, parts: Parts, *, look: bool = False) -> Attempt:
    """The attempt with what it failed at; one that is to show something need not answer."""
    fault = attribute(result.program, result.findings, result.trace, tools)
    if look and fault is not None and fault.kind == "no_answer":
        fault = None
    return replace(result, fault=fault, execution=None if result.trace is None else parts.journal.execution)


@dataclass(frozen=True, slots=True)
class _Mending:
    """What is put right in a program that ran and wrote nothing, by what its calls showed, without asking the model.

    A mended program runs in the place of the first where it gives an answer; the journal answers what was called.
    """

    task: str
    tools: Toolbox
    parts: Parts
    meter: Meter
    look: bool

    def mended(self, result: Attempt) -> Attempt:
        """The attempt with what could be mended, and the doubts that are left of its answer."""
        result = self._shapes(self._ids(result))
        if self.look:
            return result
        result = self._names(self._pages(result))
        if result.answer is None or result.trace is None or wrote(result, self.parts):
            return result
        return replace(result, doubts=doubts(self.task, result.program, result.trace, result.answer, self.tools))

    def _ids(self, result: Attempt) -> Attempt:
        """Ids looked up, where a tool refused names in their place and a search gives the ids."""
        if result.fault is None or result.trace is None:
            return result
        program = look_up_names(result.program, result.fault, result.trace, self.tools)
        return self._again(result, program, NAME_FOR_ID, result.fault.message, line=result.fault.line or 1)

    def _shapes(self, result: Attempt) -> Attempt:
        """Results of undescribed tools read as they came: the sole list inside, the one key that is near.

        One such slip may hide another: it is mended until the program answers, or nothing is left to mend.
        """
        mended = result
        for _ in range(_MENDING_ROUNDS):
            fault, trace = mended.fault, mended.trace
            if fault is None or fault.kind not in {*MISREAD, "error"} or trace is None or wrote(mended, self.parts):
                break
            seen = observed(self.tools, trace.calls, exactly=True)
            found = tuple(one for one in check(mended.program, seen) if one.certain and not _is_choice(one, seen))
            program = mend(mended.program, found, seen) if seen is not self.tools and found else None
            if program is None:
                break
            mended = self._run(mended, program, found)
        return mended if mended.answer is not None else result

    def _pages(self, result: Attempt) -> Attempt:
        """All pages read, where it answered from the first ones; whatever the first page held stands where it stood."""
        if result.answer is not None and result.trace is not None:
            for unread in unread_pages(result.program, result.trace, self.tools):
                program = read_every_page(result.program, unread, self.tools)
                result = self._again(result, program, FIRST_PAGE, f"{unread.tool}: {unread.evidence} was read.")
        return result

    def _names(self, result: Attempt) -> Attempt:
        """Ids in its answer looked up, where the task asks for a field that a lookup gives."""
        if result.answer is None or result.trace is None:
            return result
        everything = self.parts.toolbox
        program = look_up_answer(self.task, result.program, result.trace, result.answer, everything)
        return self._again(result, program, ID_PRINTED, f"{result.answer[:40]!r} is no more than an id.")

    def _again(self, result: Attempt, program: Program | None, code: str, message: str, *, line: int = 1) -> Attempt:
        """The attempt with `program` in its place; as it came where there is none, or it gives no answer."""
        tools = with_named(program, self.tools, self.parts.toolbox) if program is not None else self.tools
        if program is None or wrote(result, self.parts) or any(found.certain for found in check(program, tools)):
            return result
        again = self._run(result, program, [Finding(code=code, message=message, line=line)], tools)
        return again if again.answer is not None else result

    def _run(
        self, result: Attempt, program: Program, found: Sequence[Finding], tools: Toolbox | None = None
    ) -> Attempt:
        tools = self.tools if tools is None else tools
        trace = executed_trace(program, tools, self.parts, self.meter)
        trace = replace(trace, calls=_as_made(trace.calls, result))
        again = replace(result, program=program, trace=trace, mended=(*result.mended, *found))
        return _blamed(again, tools, self.parts)


def _is_choice(found: Finding, tools: Toolbox) -> bool:
    """Whether a finding suggests one list of an object that has several."""
    if found.code != "not-a-list" or found.tool is None or found.tool not in tools:
        return False
    schemas: list[Any] = [tools[found.tool].protocol.output_schema]
    while schemas:
        match schemas.pop():
            case dict() as schema:
                fields = schema.get("properties")
                lists = [k for k, v in fields.items() if v.get("type") == "array"] if isinstance(fields, dict) else []
                if len(lists) > 1 and any((found.suggestion or "").endswith(f"[{key!r}]") for key in lists):
                    return True
                schemas += schema.values()
            case list() as several:
                schemas += several
    return False


def executed(
    program: Program,
    tools: Toolbox,
    parts: Parts,
    meter: Meter,
    *,
    number: int,
    round_: int,
    blind: bool,
    look: bool = False,
) -> Attempt:
    """Run a program as it stands, unchecked and unmended, and blame what failed: for rivals that have no check.

    `number`, `round_`, `blind` and `look` are those of `attempt`.
    """
    tools = _with_inner(program, tools, parts.toolbox)
    parts.consent.wrote(program, blind=blind)
    if (before := parts.past.attempt(number)) is not None:
        return before
    parts.observer(ProgramWritten(number, program, ()))
    trace = executed_trace(program, tools, parts, meter)
    result = _blamed(Attempt(program, (), trace, None, round=round_), tools, parts, look=look)
    result = result if look else held_to(result, parts.problem)
    parts.observer(AttemptEnded(number, result))
    return result


def _as_made(calls: Sequence[ToolCall], before: Attempt) -> tuple[ToolCall, ...]:
    """The calls of both runs of one attempt: what the first made and the second reused is shown once, as made."""
    made = [call for call in (before.trace.calls if before.trace else ()) if not call.reused]
    shown: list[ToolCall] = []
    for call in calls:
        first = next((m for m in made if call.reused and (m.tool, m.arguments) == (call.tool, call.arguments)), None)
        if first is not None:
            made.remove(first)
            call = replace(call, reused=False, seconds=first.seconds)
        shown.append(call)
    return tuple(replace(call, index=index) for index, call in enumerate([*made, *shown]))


def checked(
    task: str, program: Program, tools: Toolbox, *, look: bool = False, blind: bool = True
) -> tuple[Program, tuple[Finding, ...], tuple[Finding, ...]]:
    """The program to run, what stops it, and what was mended in it; the program as it came where mending fails.

    With `look` it may print nothing; where it is not `blind` the answer may stand in it.
    """
    found = findings = _certain(task, program, tools, look=look, blind=blind)
    better = program
    for _ in range(_MENDING_ROUNDS):
        mended = mend(better, findings, tools) if findings else None
        if mended is None:
            break
        better, findings = mended, _certain(task, mended, tools, look=look, blind=blind)
        if not findings:
            return better, (), found
    return program, found, ()


def _certain(task: str, program: Program, tools: Toolbox, *, look: bool, blind: bool) -> tuple[Finding, ...]:
    """What stops a program. What only may go wrong does not: running it tells, and many runs never meet it."""
    found = tuple(
        finding for finding in check(program, tools) if finding.certain and not (look and finding.code == "no-output")
    )
    fixed = () if found or look or not blind else fixed_answer(program, tools)
    return (*found, *fixed, *made_up(program, task, tools))


def insists(findings: Sequence[Finding], program: Program, tools: Toolbox, earlier: Sequence[Attempt]) -> bool:
    """Whether all that speaks against a program are response schemas, and the model was told so and does it again."""
    told = {(found.code, found.tool) for attempt in earlier for found in attempt.findings}
    known = {(found.code, found.tool) for found in findings}
    return bool(findings) and known <= told and rests_on_responses(findings, program, tools)


def rests_on_responses(findings: Sequence[Finding], program: Program, tools: Toolbox) -> bool:
    """Whether nothing would speak against a program if no tool had said what it returns."""
    if not findings:
        return False
    silent = tools.map(lambda tool: replace(tool, protocol=replace(tool.protocol, output_schema=None)))
    codes = {found.code for found in findings} & {"made-up-value", "fixed-answer"}
    return not codes and not any(found.certain for found in check(program, silent))


def writing_tools(program: Program, tools: Toolbox) -> set[str]:
    """The tools that a program names and that may change something."""
    return {word for word in _words(program) if word in tools and tools[word].protocol.writes}


def executed_trace(program: Program, tools: Toolbox, parts: Parts, meter: Meter) -> Trace:
    """What running `program` left, within what is left of the run's budget."""
    named = dict.fromkeys([*_words(program), *_inner(program, tools)])
    parts.observer(ToolsNamed({alias: tools[alias].protocol for alias in named if alias in tools}))
    return inline.run(parts.sandbox, program.source, tools, limits=_limits(parts, meter), journal=parts.journal)


def with_named(program: Program, tools: Toolbox, everything: Toolbox) -> Toolbox:
    """The prompt's tools and those that the program names besides: a tool that exists may be used unseen."""
    named = everything.only(dict.fromkeys([*tools, *(word for word in _words(program) if word in everything)]))
    return _with_inner(program, named, everything)


def _with_inner(program: Program, tools: Toolbox, everything: Toolbox) -> Toolbox:
    """`tools`, and those that the saved ones which the program names call."""
    inner = [alias for alias in _inner(program, tools) if alias not in tools and alias in everything]
    return everything.only([*tools, *inner]) if inner else tools


def _inner(program: Program, tools: Toolbox) -> list[str]:
    bindings = [tools[word].protocol.binding for word in _words(program) if word in tools]
    return [alias for binding in bindings if isinstance(binding, ProgramBinding) for alias in binding.tools]


def _words(program: Program) -> list[str]:
    return list(dict.fromkeys(re.findall(r"[^\W\d]\w*", program.source)))


def _limits(parts: Parts, meter: Meter) -> Limits:
    limits = Limits(tool_calls=parts.config.max_calls)
    left = meter.seconds_left
    return limits if left is None else replace(limits, wall_seconds=max(1.0, min(limits.wall_seconds, left)))


def seen_output(attempts: Sequence[Attempt]) -> bool:
    """Whether the model may have been shown what a tool answered: whatever is written from then on may repeat it."""
    return any(attempt.trace is not None and attempt.trace.calls for attempt in attempts)


def calls_made(attempts: Sequence[Attempt]) -> int:
    """Calls that reached a tool: neither answered by the journal nor refused unsent."""
    traces = (attempt.trace for attempt in attempts if attempt.trace is not None)
    return sum(not call.reused and call.outcome != "not_run" for trace in traces for call in trace.calls)


def written(attempts: Sequence[Attempt], parts: Parts) -> tuple[ToolCall, ...]:
    """Calls of the attempts that changed something, or may have, each once.

    From the attempts, not from the journal: when a run goes on, that one knows already what later attempts will do.
    """
    found: dict[tuple[str, int], ToolCall] = {}
    for attempt in attempts:
        for key, call in numbered(attempt.trace.calls if attempt.trace is not None else ()):
            if call.outcome in ("done", "unknown") and parts.toolbox[call.tool].protocol.writes:
                found.setdefault(key, call)
    return tuple(found.values())


def numbered(calls: Iterable[ToolCall]) -> Iterator[tuple[tuple[str, int], ToolCall]]:
    """The calls of one execution with what the journal knows them by: the k-th with these arguments."""
    seen: Counter[str] = Counter()
    for call in calls:
        key = canonical(call.tool, call.arguments)
        yield (key, seen[key]), call
        seen[key] += 1


def wrote(attempt: Attempt, parts: Parts) -> bool:
    """Whether a call of the attempt changed something, or may have, or an earlier attempt's was taken over."""
    calls = attempt.trace.calls if attempt.trace else ()
    return any(call.outcome in ("done", "unknown") and parts.toolbox[call.tool].protocol.writes for call in calls)
