"""One attempt of a run: its program is checked, fixed, executed and added to the run."""

from __future__ import annotations

from dataclasses import replace

from atc.archive.learned_schemas import add_observed_schemas
from atc.core.events import AttemptEnded, ProgramWritten
from atc.core.program import Program
from atc.core.types import Attempt, Finding
from atc.run.passes import Passes
from atc.run.program_calls import has_written, seen_output
from atc.run.program_tools import with_named, writing_tools
from atc.run.strategy_run import Run
from protocols.toolbox import Toolbox


def attempt(
    run: Run,
    program: Program,
    *,
    blind: bool | None = None,
    seen: str = "",
    look: bool = False,
    holds_writes: bool = False,
) -> Attempt:
    """Check and execute a program, find the cause of a failure, and add the attempt to the run.

    The program is executed only if the static check finds no problem. `blind` is True if the model
    had seen no tool output when it wrote the program; if None, it is True if no attempt has made a
    call. `seen` is text with tool results that were shown to the model; values in it do not count
    as invented. If `look` is True, the program only shows intermediate results and need not answer.
    If `holds_writes` is True, it ends before its first write, which is not sent.

    A program that a passing failure of a tool has ended is executed again at once.

    Findings that rest on response schemas alone are an exception, because such a schema may be
    wrong, and so are suspicions (see `passes.may_be_right`). If the model repeated the program
    despite these findings and the program writes nothing, it is executed. If the actual responses
    confirm the findings, its answer is doubtful. Response schemas observed in the calls are added
    to the run's toolbox.
    """
    blind = not seen_output(run.attempts) if blind is None else blind
    passes = prepare(
        run, program, blind=blind, seen=seen, look=look or holds_writes, holds_writes=holds_writes
    )
    result = passes.check(Attempt(program, round=run.round, is_look=holds_writes))
    result = passes.autofix(result)
    writes = not holds_writes and writing_tools(result.program, passes.tools)
    insisted = passes.insists(result) and not writes
    if insisted:
        result = replace(result, findings=())
    stored = _begin(run, result, blind=blind)
    if stored is not None:
        return _learn(run, stored)
    passes.repeat_failures_of_same_program(result)
    result = passes.rerun_after_passing_failure(passes.execute(result))
    result = passes.rerun_with_fixed_reading(result)
    if not passes.look:
        # What a program that the model insists on does with a response is doubted as it stands.
        result = result if insisted else passes.rerun_with_every_page(result)
        result = passes.rerun_with_lookup(result)
        result = result if has_written(result, run.parts) else passes.doubt(result)
    if insisted:
        result = passes.doubt_reading(result)
    return _learn(run, _end(run, passes.check_type(result)))


def prepare(
    run: Run,
    program: Program,
    *,
    blind: bool = True,
    seen: str = "",
    look: bool = False,
    holds_writes: bool = False,
) -> Passes:
    """Return the `Passes` object that checks, fixes and executes a program.

    The program may call the run's tools and all tools that it names. The arguments are those of
    `attempt`.
    """
    tools = with_named(program, run.tools, run.parts.toolbox)
    return Passes(
        run=run,
        tools=tools,
        known_text=f"{run.prompt_task}\n{seen}",
        look=look,
        blind=blind and not run.parts.context.earlier,
        holds_writes=holds_writes,
    )


def run_unchecked(run: Run, program: Program, tools: Toolbox, *, look: bool = False) -> Attempt:
    """Execute a program without checks or automatic fixes, and find the cause of a failure.

    Strategies that have no check use this. The arguments are those of `attempt`.
    """
    tools = with_named(program, tools, run.parts.toolbox)
    passes = Passes(run=run, tools=tools, look=look)
    result = Attempt(program, round=run.round)
    stored = _begin(run, result, blind=not seen_output(run.attempts))
    if stored is not None:
        return stored
    return _end(run, passes.check_type(passes.execute(result)))


def run_given_program(run: Run, program: Program, findings: tuple[Finding, ...]) -> Attempt:
    """Execute a program that the caller wrote, unless `findings` lists problems in it.

    If the program gives an answer, the reasons to doubt this answer are added to the attempt.
    """
    passes = Passes(run=run, tools=run.tools)
    result = Attempt(program, findings, round=run.round)
    # It is not known what the caller had read before writing the program.
    stored = _begin(run, result, blind=False)
    if stored is not None:
        return stored
    result = passes.rerun_after_passing_failure(passes.execute(result))
    return _end(run, passes.check_type(passes.doubt(result)))


def _begin(run: Run, result: Attempt, *, blind: bool) -> Attempt | None:
    """Report that a program is about to be executed, and return the attempt if it is stored.

    In a resumed run, the attempt with this number may be stored already. Then it is not executed
    again: it is added to the run and returned, and nothing is reported. Otherwise the result is
    None. Either way, `run.parts.consent` gets the program, because it may have to ask a person
    about the program's writes.
    """
    parts = run.parts
    number = len(run.attempts)
    # Who has read the caller's rules, or an earlier answer, may have taken a value from them.
    blind = blind and not parts.context.has_foreign_words
    parts.consent.begin_program(result.program, blind=blind)
    stored = parts.past.attempt(number)
    if stored is not None:
        run.attempts.append(stored)
    else:
        parts.observer(ProgramWritten(number, result.program, result.findings, result.mended))
    return stored


def _end(run: Run, result: Attempt) -> Attempt:
    """Report the finished attempt and add it to the run."""
    run.parts.observer(AttemptEnded(len(run.attempts), result))
    run.attempts.append(result)
    return result


def _learn(run: Run, result: Attempt) -> Attempt:
    """Add response schemas observed in the attempt's calls to the run's toolbox."""
    if result.trace is not None:
        toolbox = add_observed_schemas(run.parts.toolbox, result.trace.calls)
        run.parts = replace(run.parts, toolbox=toolbox)
        run.tools = toolbox.only(list(run.tools))
    return result
