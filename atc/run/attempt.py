"""One attempt: check a program, fix it where facts allow, execute it, and attribute a failure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from atc.archive.learned_schemas import add_observed_schemas
from atc.core.events import AttemptEnded, ProgramWritten, ToolsNamed
from atc.core.types import Attempt, FaultKind, Finding, Program
from atc.pipeline.attribute import attribute
from atc.pipeline.autofix import autofix
from atc.pipeline.autofix.lookups import look_up_answer
from atc.pipeline.autofix.paging import read_every_page, unread_pages
from atc.pipeline.check import check
from atc.pipeline.doubts import doubts, find_fixed_answer, find_invented_values
from atc.run.strategy_run import Parts, Run
from protocols.protocol import ProgramBinding
from protocols.toolbox import Toolbox
from sandbox.journal import canonical_call
from sandbox.limits import Limits
from sandbox.trace import ToolCall, Trace

FIRST_PAGE = "first-page-only"
ID_PRINTED = "id-printed"
MISREAD: frozenset[FaultKind] = frozenset({"misread_result", "drift", "empty_result"})
"""Kinds of fault in which a program misread a response."""
CallKey: TypeAlias = tuple[str, int]
"""Key of a call in the journal: the tool with its arguments, and a counter among equal calls."""
_MENDING_ROUNDS = 3
"""Maximum number of rounds of automatic fixes; one fix may reveal another problem."""


def attempt(
    run: Run, program: Program, *, blind: bool | None = None, seen: str = "", look: bool = False
) -> Attempt:
    """Check the program, execute it if nothing was found, attribute a failure, and add the result
    to the run's attempts.

    `blind` is True if the model had seen no tool output when it wrote the program; by default that
    is so if no attempt has made a call. `seen` are tool results that the model was shown: values in
    them do not count as invented. With `look`, the program shows intermediate results and need not
    answer.

    A program whose only findings rest on response schemas is executed nevertheless if the model
    repeated it after such findings, and if it writes nothing. If the actual responses confirm the
    findings, its answer is discarded. Response schemas observed in the calls are added to the run's
    toolbox.
    """
    blind = not seen_output(run.attempts) if blind is None else blind
    known = with_named(program, run.tools, run.parts.toolbox)
    program, findings, mended = check_and_fix(
        f"{run.task}\n{seen}", program, known, look=look, blind=blind
    )
    insisted = is_insisting(findings, program, known, run.attempts) and not writing_tools(
        program, known
    )

    def improve(result: Attempt) -> Attempt:
        result = _fix_from_calls(run, known, result, look=look)
        return _withdraw_if_confirmed(result, known) if insisted else result

    findings = () if insisted else findings
    result = _make_attempt(
        run,
        program,
        known,
        blind=blind,
        look=look,
        findings=findings,
        mended=mended,
        better=improve,
    )
    if result.trace is not None:
        run.parts = replace(
            run.parts, toolbox=add_observed_schemas(run.parts.toolbox, result.trace.calls)
        )
        run.tools = run.parts.toolbox.only(list(run.tools))
    return result


def run_unchecked(run: Run, program: Program, tools: Toolbox, *, look: bool = False) -> Attempt:
    """Execute a program without checks or automatic fixes, and attribute a failure. For strategies
    that have no check.
    """
    tools = with_named(program, tools, run.parts.toolbox)
    return _make_attempt(run, program, tools, blind=not seen_output(run.attempts), look=look)


def run_given_program(run: Run, program: Program, findings: tuple[Finding, ...]) -> Attempt:
    """Execute a program that the caller wrote, unless it has findings, and add doubts about its
    answer.
    """
    # It is not known what the caller had read before writing the program.
    return _make_attempt(
        run,
        program,
        run.tools,
        blind=False,
        findings=findings,
        better=partial(_add_doubts, run, run.tools),
    )


def _withdraw_if_confirmed(result: Attempt, tools: Toolbox) -> Attempt:
    """Discard the answer if the findings also hold for the responses that were received."""
    if result.answer is None or result.trace is None:
        return result
    came = {call.tool for call in result.trace.calls if call.error is None}
    found = check(result.program, add_observed_schemas(tools, result.trace.calls))
    held = tuple(one for one in found if one.certain and (one.tool is None or one.tool in came))
    return replace(result, fault=attribute(result.program, held, None, tools)) if held else result


def _make_attempt(
    run: Run,
    program: Program,
    tools: Toolbox,
    *,
    blind: bool,
    look: bool = False,
    findings: tuple[Finding, ...] = (),
    mended: tuple[Finding, ...] = (),
    better: Callable[[Attempt], Attempt] = lambda result: result,
) -> Attempt:
    """Execute the program as the run's next attempt and apply `better` to the result. A stored
    attempt of a resumed run is returned instead.
    """
    parts = run.parts
    number = len(run.attempts)
    parts.consent.begin_program(program, blind=blind)
    result = parts.past.attempt(number)
    if result is None:
        parts.observer(ProgramWritten(number, program, findings, mended))
        trace = None if findings else trace_program(run, program, tools)
        result = Attempt(program, findings, trace, None, mended=mended, round=run.round)
        result = _attribute_fault(result, tools, parts, look=look)
        if trace is not None:
            result = better(result)
        if parts.output is not None and not look:
            result = parts.output.check_attempt(result)
        parts.observer(AttemptEnded(number, result))
    run.attempts.append(result)
    return result


def _attribute_fault(
    result: Attempt, tools: Toolbox, parts: Parts, *, look: bool = False
) -> Attempt:
    """Add the fault to an attempt. With `look`, a missing answer is not a fault."""
    fault = attribute(result.program, result.findings, result.trace, tools)
    if look and fault is not None and fault.kind == "no_answer":
        fault = None
    return replace(
        result, fault=fault, execution=None if result.trace is None else parts.journal.execution
    )


def _fix_from_calls(run: Run, tools: Toolbox, result: Attempt, *, look: bool) -> Attempt:
    """Apply the fixes that the actual responses allow without asking the model, and add the
    remaining doubts.

    A fixed program is executed in place of the first one and replaces it if it gives an answer. The
    journal answers calls that were already made.
    """
    if has_written(result, run.parts):
        return result
    result = _fix_shapes(run, tools, result)
    if look:
        return result
    result = _complete_answer(run, tools, result)
    return result if has_written(result, run.parts) else _add_doubts(run, tools, result)


def _fix_shapes(run: Run, tools: Toolbox, result: Attempt) -> Attempt:
    """Fix how the program reads results of undescribed tools: use the only list in a result, or the
    most similar key.

    One such mistake may hide another, so this is repeated until the program answers or nothing can
    be fixed.
    """
    mended = result
    for _ in range(_MENDING_ROUNDS):
        fault = mended.fault
        trace = mended.trace
        if (
            fault is None
            or fault.kind not in {*MISREAD, "error"}
            or trace is None
            or has_written(mended, run.parts)
        ):
            break
        seen = add_observed_schemas(tools, trace.calls, exactly=True)
        found = tuple(one for one in check(mended.program, seen) if one.certain)
        program = autofix(mended.program, found, seen) if seen is not tools and found else None
        if program is None:
            break
        mended = _rerun_with(run, tools, mended, program, found)
    return mended if mended.answer is not None else result


def _complete_answer(run: Run, tools: Toolbox, result: Attempt) -> Attempt:
    """Rewrite the program to read all pages, or to look up the name behind a printed id, and
    execute it again.
    """
    if result.answer is not None and result.trace is not None:
        for unread in unread_pages(result.program, result.trace, tools):
            found = Finding(
                code=FIRST_PAGE, message=f"{unread.tool}: {unread.evidence} was read.", line=1
            )
            result = _replace_program(
                run, tools, result, read_every_page(result.program, unread, tools), found
            )
    if result.answer is None or result.trace is None:
        return result
    program = look_up_answer(
        run.task, result.program, result.trace, result.answer, run.parts.toolbox
    )
    found = Finding(
        code=ID_PRINTED, message=f"{result.answer[:40]!r} is no more than an id.", line=1
    )
    return _replace_program(run, tools, result, program, found)


def _replace_program(
    run: Run, tools: Toolbox, result: Attempt, program: Program | None, found: Finding
) -> Attempt:
    """Execute `program` in place of the attempt's program. Return the attempt unchanged if it is
    None or gives no answer.
    """
    tools = with_named(program, tools, run.parts.toolbox) if program is not None else tools
    if (
        program is None
        or has_written(result, run.parts)
        or any(one.certain for one in check(program, tools))
    ):
        return result
    again = _rerun_with(run, tools, result, program, [found])
    return again if again.answer is not None else result


def _rerun_with(
    run: Run, tools: Toolbox, result: Attempt, program: Program, found: Sequence[Finding]
) -> Attempt:
    """Return the attempt with `program` executed in place of its own."""
    trace = trace_program(run, program, tools)
    trace = replace(trace, calls=_merge_calls(trace.calls, result))
    again = replace(result, program=program, trace=trace, mended=(*result.mended, *found))
    return _attribute_fault(again, tools, run.parts)


def _merge_calls(calls: Sequence[ToolCall], before: Attempt) -> tuple[ToolCall, ...]:
    """Merge the calls of the original and the rerun program. A call that the journal answered
    appears once, as a real call.
    """
    made = [call for call in before.calls if not call.reused]
    shown: list[ToolCall] = []
    for call in calls:
        first = next(
            (
                m
                for m in made
                if call.reused and (m.tool, m.arguments) == (call.tool, call.arguments)
            ),
            None,
        )
        if first is not None:
            made.remove(first)
            call = replace(call, reused=False, seconds=first.seconds)
        shown.append(call)
    return tuple(replace(call, index=index) for index, call in enumerate([*made, *shown]))


def _add_doubts(run: Run, tools: Toolbox, result: Attempt) -> Attempt:
    """Add the doubts about the attempt's answer, if it has one."""
    if result.answer is None or result.trace is None:
        return result
    return replace(
        result, doubts=doubts(run.task, result.program, result.trace, result.answer, tools)
    )


def check_and_fix(
    task: str, program: Program, tools: Toolbox, *, look: bool = False, blind: bool = True
) -> tuple[Program, tuple[Finding, ...], tuple[Finding, ...]]:
    """Return the program to execute, the findings that prevent that, and the findings that were
    fixed.

    If fixing does not remove all findings, the program is returned unchanged. With `look`, it may
    print nothing. If it is not `blind`, it may contain the answer as a constant.
    """
    found = findings = _find_certain(task, program, tools, look=look, blind=blind)
    better = program
    for _ in range(_MENDING_ROUNDS):
        mended = autofix(better, findings, tools) if findings else None
        if mended is None:
            break
        better = mended
        findings = _find_certain(task, mended, tools, look=look, blind=blind)
        if not findings:
            return better, (), found
    return program, found, ()


def _find_certain(
    task: str, program: Program, tools: Toolbox, *, look: bool, blind: bool
) -> tuple[Finding, ...]:
    """Return the findings that prevent execution. Uncertain ones do not: many runs never meet the
    problem.
    """
    found = tuple(
        finding
        for finding in check(program, tools)
        if finding.certain and not (look and finding.code == "no-output")
    )
    fixed = () if found or look or not blind else find_fixed_answer(program, tools)
    return (*found, *fixed, *find_invented_values(program, task, tools))


def is_insisting(
    findings: Sequence[Finding], program: Program, tools: Toolbox, earlier: Sequence[Attempt]
) -> bool:
    """Return True if all findings rest on response schemas, and the model repeats what it was
    already told about.
    """
    told = {(found.code, found.tool) for attempt in earlier for found in attempt.findings}
    known = {(found.code, found.tool) for found in findings}
    return bool(findings) and known <= told and rests_on_responses(findings, program, tools)


def rests_on_responses(findings: Sequence[Finding], program: Program, tools: Toolbox) -> bool:
    """Return True if the program would have no findings without the tools' response schemas."""
    if not findings:
        return False
    silent = tools.map(
        lambda tool: replace(tool, protocol=replace(tool.protocol, output_schema=None))
    )
    codes = {found.code for found in findings} & {"made-up-value", "fixed-answer"}
    return not codes and not any(found.certain for found in check(program, silent))


def writing_tools(program: Program, tools: Toolbox) -> set[str]:
    """Return the tools that a program names and that may write."""
    return {word for word in _words(program) if word in tools and tools[word].protocol.writes}


def trace_program(run: Run, program: Program, tools: Toolbox) -> Trace:
    """Execute `program` with `tools` and the tools that it names, within the rest of the run's
    budget. Return the trace.
    """
    tools = with_named(program, tools, run.parts.toolbox)
    parts = run.parts
    limits = Limits(tool_calls=run.parts.config.max_calls)
    left = run.meter.seconds_left
    if left is not None:
        limits = replace(limits, wall_seconds=max(1.0, min(limits.wall_seconds, left)))
    named = dict.fromkeys([*_words(program), *_inner_tools(program, tools)])
    parts.observer(ToolsNamed({alias: tools[alias].protocol for alias in named if alias in tools}))
    return parts.sandbox.run(program.source, tools, limits=limits, journal=parts.journal)


def with_named(program: Program, tools: Toolbox, everything: Toolbox) -> Toolbox:
    """Return `tools`, the tools that the program names besides them, and the tools that saved
    programs among these call.
    """
    named = everything.only(
        dict.fromkeys([*tools, *(word for word in _words(program) if word in everything)])
    )
    inner = [
        alias
        for alias in _inner_tools(program, named)
        if alias not in named and alias in everything
    ]
    return everything.only([*named, *inner]) if inner else named


def _inner_tools(program: Program, tools: Toolbox) -> list[str]:
    bindings = [tools[word].protocol.binding for word in _words(program) if word in tools]
    return [
        alias
        for binding in bindings
        if isinstance(binding, ProgramBinding)
        for alias in binding.tools
    ]


def _words(program: Program) -> list[str]:
    return list(dict.fromkeys(re.findall(r"[^\W\d]\w*", program.source)))


def seen_output(attempts: Sequence[Attempt]) -> bool:
    """Return True if the model may have been shown tool output. Any later program may repeat values
    from it.
    """
    return any(attempt.calls for attempt in attempts)


def find_writes(run: Run) -> dict[CallKey, ToolCall]:
    """Return the calls of all attempts that wrote something or may have, each once.

    They are read from the attempts, not from the journal, because the journal of a resumed run
    already contains later calls.
    """
    found: dict[CallKey, ToolCall] = {}
    for attempt in run.attempts:
        for key, call in number_calls(attempt.calls):
            if _is_write(call, run.parts):
                found.setdefault(key, call)
    return found


def number_calls(calls: Iterable[ToolCall]) -> Iterator[tuple[CallKey, ToolCall]]:
    """Yield the calls of one execution with their journal keys."""
    seen: Counter[str] = Counter()
    for call in calls:
        key = canonical_call(call.tool, call.arguments)
        yield (key, seen[key]), call
        seen[key] += 1


def has_written(attempt: Attempt, parts: Parts) -> bool:
    """Return True if a call of the attempt wrote something or may have, including calls answered by
    the journal.
    """
    return any(_is_write(call, parts) for call in attempt.calls)


def _is_write(call: ToolCall, parts: Parts) -> bool:
    return call.outcome in ("done", "unknown") and parts.toolbox[call.tool].protocol.writes
