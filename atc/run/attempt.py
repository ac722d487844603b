"""One attempt: a program checked, mended where facts allow, executed, and blamed where it failed."""

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
"""Faults of a program that took a response for another than it was."""
CallKey: TypeAlias = tuple[str, int]
"""What the journal knows a call by: tool and arguments, and the number among those that are alike."""
_MENDING_ROUNDS = 3
"""Mending one thing may bring another to light."""


def attempt(
    run: Run, program: Program, *, blind: bool | None = None, seen: str = "", look: bool = False
) -> Attempt:
    """Check the program; run it if nothing was found; blame what failed. It is the run's next attempt.

    `blind`: the model had seen no tool output when it wrote it (by default: none was shown until now); `seen` are
    results that it was shown: a value that stands there is not made up. `look`: the program is to show something, and
    need not answer. What only a response schema forbids runs where earlier attempts show that the model insists, and
    nothing is written; where what came bears the schema out, its answer does not stand. What the calls showed of the
    tools counts from here on.
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
    """Run a program as it stands, unchecked and unmended, and blame what failed: for rivals that have no check."""
    tools = with_named(program, tools, run.parts.toolbox)
    return _make_attempt(run, program, tools, blind=not seen_output(run.attempts), look=look)


def run_given_program(run: Run, program: Program, findings: tuple[Finding, ...]) -> Attempt:
    """Run a program that a caller wrote, unless something was found, and say what is doubtful about its answer."""
    # Nobody here knows what the caller had read when it wrote this.
    return _make_attempt(
        run,
        program,
        run.tools,
        blind=False,
        findings=findings,
        better=partial(_add_doubts, run, run.tools),
    )


def _withdraw_if_confirmed(result: Attempt, tools: Toolbox) -> Attempt:
    """The attempt without its answer, where what was found in its program holds of what its calls brought, too."""
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
    """The run's next attempt, made `better` where it ran; one of the run's past is not made again."""
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
    """The attempt with what it failed at; one that is to show something need not answer."""
    fault = attribute(result.program, result.findings, result.trace, tools)
    if look and fault is not None and fault.kind == "no_answer":
        fault = None
    return replace(
        result, fault=fault, execution=None if result.trace is None else parts.journal.execution
    )


def _fix_from_calls(run: Run, tools: Toolbox, result: Attempt, *, look: bool) -> Attempt:
    """The attempt with what its calls allow to put right without asking the model, and the doubts that are left.

    A mended program runs in the place of the first where it gives an answer; the journal answers what was called.
    """
    if has_written(result, run.parts):
        return result
    result = _fix_shapes(run, tools, result)
    if look:
        return result
    result = _complete_answer(run, tools, result)
    return result if has_written(result, run.parts) else _add_doubts(run, tools, result)


def _fix_shapes(run: Run, tools: Toolbox, result: Attempt) -> Attempt:
    """Results of undescribed tools read as they came: the sole list inside, the one key that is near.

    One such slip may hide another: it is mended until the program answers, or nothing is left to mend.
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
    """All pages read, where it answered from the first; ids looked up, where the task asks for what is behind them."""
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
    """The attempt with `program` in its place; as it came where there is none, or it gives no answer."""
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
    """The attempt with `program` run in its place."""
    trace = trace_program(run, program, tools)
    trace = replace(trace, calls=_merge_calls(trace.calls, result))
    again = replace(result, program=program, trace=trace, mended=(*result.mended, *found))
    return _attribute_fault(again, tools, run.parts)


def _merge_calls(calls: Sequence[ToolCall], before: Attempt) -> tuple[ToolCall, ...]:
    """The calls of both runs of one attempt: what the first made and the second reused is shown once, as made."""
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
    """The attempt with what speaks against its answer, if it has one."""
    if result.answer is None or result.trace is None:
        return result
    return replace(
        result, doubts=doubts(run.task, result.program, result.trace, result.answer, tools)
    )


def check_and_fix(
    task: str, program: Program, tools: Toolbox, *, look: bool = False, blind: bool = True
) -> tuple[Program, tuple[Finding, ...], tuple[Finding, ...]]:
    """The program to run, what stops it, and what was mended in it; the program as it came where mending fails.

    With `look` it may print nothing; where it is not `blind` the answer may stand in it.
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
    """What stops a program. What only may go wrong does not: running it tells, and many runs never meet it."""
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
    """Whether all that speaks against a program are response schemas, and the model was told so and does it again."""
    told = {(found.code, found.tool) for attempt in earlier for found in attempt.findings}
    known = {(found.code, found.tool) for found in findings}
    return bool(findings) and known <= told and rests_on_responses(findings, program, tools)


def rests_on_responses(findings: Sequence[Finding], program: Program, tools: Toolbox) -> bool:
    """Whether nothing would speak against a program if no tool had said what it returns."""
    if not findings:
        return False
    silent = tools.map(
        lambda tool: replace(tool, protocol=replace(tool.protocol, output_schema=None))
    )
    codes = {found.code for found in findings} & {"made-up-value", "fixed-answer"}
    return not codes and not any(found.certain for found in check(program, silent))


def writing_tools(program: Program, tools: Toolbox) -> set[str]:
    """The tools that a program names and that may change something."""
    return {word for word in _words(program) if word in tools and tools[word].protocol.writes}


def trace_program(run: Run, program: Program, tools: Toolbox) -> Trace:
    """What running `program` with `tools` and those that it names left, within what is left of the run's budget."""
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
    """`tools`, those that the program names besides (a tool may be used unseen), and those that saved ones call."""
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
    """Whether the model may have been shown what a tool answered: whatever is written from then on may repeat it."""
    return any(attempt.calls for attempt in attempts)


def find_writes(run: Run) -> dict[CallKey, ToolCall]:
    """Calls of the run's attempts that changed something, or may have, each once.

    From the attempts, not from the journal: when a run goes on, that one knows already what later attempts will do.
    """
    found: dict[CallKey, ToolCall] = {}
    for attempt in run.attempts:
        for key, call in number_calls(attempt.calls):
            if _is_write(call, run.parts):
                found.setdefault(key, call)
    return found


def number_calls(calls: Iterable[ToolCall]) -> Iterator[tuple[CallKey, ToolCall]]:
    """The calls of one execution with what the journal knows them by."""
    seen: Counter[str] = Counter()
    for call in calls:
        key = canonical_call(call.tool, call.arguments)
        yield (key, seen[key]), call
        seen[key] += 1


def has_written(attempt: Attempt, parts: Parts) -> bool:
    """Whether a call of the attempt changed something, or may have, or an earlier attempt's was taken over."""
    return any(_is_write(call, parts) for call in attempt.calls)


def _is_write(call: ToolCall, parts: Parts) -> bool:
    return call.outcome in ("done", "unknown") and parts.toolbox[call.tool].protocol.writes
