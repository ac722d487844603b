"""The tools that a program names, those that may write, and execution of a program with tools."""

from __future__ import annotations

from dataclasses import replace

from atc.core.events import ToolsNamed
from atc.core.program import Program
from atc.core.tool_access import program_limits
from atc.run.remedies import pause_for_remedy, skipped_remedies
from atc.run.strategy_run import Run
from protocols.protocol import ProgramBinding
from protocols.schema import JsonObject
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.base import Paused
from sandbox.trace import Trace


def with_named(program: Program, tools: Toolbox, everything: Toolbox) -> Toolbox:
    """Return `tools` together with the tools that the program names or calls indirectly.

    A saved program can be used as a tool; the tools that it calls are called indirectly.
    `everything` is the toolbox with all tools.
    """
    named = everything.only(
        dict.fromkeys([*tools, *(word for word in program.names if word in everything)])
    )
    inner = [
        alias
        for alias in _inner_tools(program, named)
        if alias not in named and alias in everything
    ]
    return everything.only([*named, *inner]) if inner else named


def _inner_tools(program: Program, tools: Toolbox) -> list[str]:
    bindings = [tools[word].protocol.binding for word in program.names if word in tools]
    return [
        alias
        for binding in bindings
        if isinstance(binding, ProgramBinding)
        for alias in binding.tools
    ]


def writing_tools(program: Program, tools: Toolbox) -> set[str]:
    """Return the aliases of the tools that a program names and that may write."""
    return {word for word in program.names if word in tools and tools[word].protocol.writes}


class HeldWrite(Paused):
    """Raised instead of sending a write, if only the reads before it are wanted."""


def trace_program(
    run: Run, program: Program, tools: Toolbox, *, holds_writes: bool = False
) -> Trace:
    """Execute `program` within the rest of the run's budget and return its trace.

    The program can call `tools` and the tools that it names. The trace is paused if only a person
    can make a failed call succeed. If `holds_writes` is True, the program ends before its first
    write. That call is the last one of the trace, with the outcome `not_run`.
    """
    tools = with_named(program, tools, run.parts.toolbox)
    parts = run.parts
    limits = program_limits(run.parts.config)
    left = run.meter.seconds_left
    if left is not None:
        limits = replace(limits, wall_seconds=max(1.0, min(limits.wall_seconds, left)))
    named = dict.fromkeys([*program.names, *_inner_tools(program, tools)])
    parts.observer(ToolsNamed({alias: tools[alias].protocol for alias in named if alias in tools}))
    if holds_writes:
        tools = tools.map(_hold_writes)
    trace = parts.sandbox.run(program.source, tools, limits=limits, journal=parts.journal)
    if trace.failure is not None and trace.failure.type == HeldWrite.__name__:
        return replace(trace, failure=None)
    for sentence in skipped_remedies(trace):
        run.meter.note(sentence)
    return pause_for_remedy(trace, program, parts.toolbox, parts.journal)


def _hold_writes(tool: Tool) -> Tool:
    """Return a tool whose calls are held back if they write."""
    return replace(tool, admit=_refuse_write) if tool.protocol.writes else tool


def _refuse_write(_: JsonObject) -> None:
    raise HeldWrite("not sent: the reads before it are looked at first")
