"""Our way: what attribution found, what was really there, and what the line should say where facts settle that."""

from __future__ import annotations

from collections.abc import Iterator

from atc.repair.better import better_lines, makers, sources
from atc.repair.case import Case
from atc.repair.documentation import called, documentation, signature
from atc.repair.reading import fenceless, returned, seen_fields
from atc.synthesize import described
from atc.types import Fault
from protocols.ask import Message
from sandbox.trace import ToolCall

_MOST_FINDINGS = 5
_MOST_FACTS = 8
_LONGEST_FACT = 400
_MOST_TOOLS = 2

_NO_PROGRAM = (
    "That reply held no Python program. The functions are defined already: do not define them. Write the program that"
    " calls them and prints the answer."
)
_LONGEST_RETURNED = 3_000
"""Characters of what the other calls returned."""


def told(case: Case) -> list[Message]:
    """The program, and what is known of its failure."""
    fault = case.attempt.fault
    assert fault is not None
    if not case.attempt.program.source.strip():
        return [case.written, case.rewrite([_NO_PROGRAM])]
    call = next((made for made in case.calls if made.index == fault.call), None)
    lines = list(better_lines(case, fault, call)) or list(sources(case, fault, call))
    parts = [_head(case, fault), *_evidence(case, fault), *lines]
    known = "\n".join(part for part in parts if part)
    return [case.written, case.rewrite([known, "\n".join(_about(case, fault, call)), _unread(case, fault)])]


def _head(case: Case, fault: Fault) -> str:
    program, findings = case.attempt.program, case.attempt.findings
    if not findings:
        line = program.line(fault.line)
        quoted = (
            f"\nLine {fault.line} is `{line}`."
            if line and not any(line in fact.text for fact in fault.evidence)
            else ""
        )
        return f"That program failed. {fault.message}{quoted}"
    lines = []
    for finding in findings[:_MOST_FINDINGS]:
        meant = finding.suggestion
        perhaps = f" Perhaps {meant}." if meant and meant not in finding.message else ""
        lines.append(f"- Line {finding.line}, `{program.line(finding.line)}`: {finding.message}{perhaps}")
    left = len(findings) - _MOST_FINDINGS
    more = [f"- … and {left} more"] if left > 0 else []
    return "\n".join(["That program was checked and not run, since it cannot work:", *lines, *more])


def _unread(case: Case, fault: Fault) -> str:
    """What the other calls returned, of tools that no document describes rightly: the next line may misread it, too."""
    if case.attempt.findings or case.docs == "names":
        return ""
    tools = (case.tools[call.tool] for call in case.made if call.tool in case.tools and call.tool != fault.tool)
    seen = {t.alias for t in tools if t.protocol.evidence.level != "declared" or not described(t)}
    gave = returned([c for c in case.made if c.tool in seen], case.tools, most=_LONGEST_RETURNED)
    return f"The other calls so far:\n{fenceless(gave)}" if gave else ""


def _evidence(case: Case, fault: Fault) -> Iterator[str]:
    """The facts, a line each. Those of the check's findings stand above already."""
    if case.attempt.findings:
        return
    facts = [fact.text for fact in fault.evidence]
    for fact in facts[:_MOST_FACTS]:
        yield f"- {fact}" if len(fact) <= _LONGEST_FACT else f"- {fact[: _LONGEST_FACT - 1]}…"


def _about(case: Case, fault: Fault, call: ToolCall | None) -> Iterator[str]:
    """The blamed tools: how they are called, and what can be read of their results, as it was where there is one.

    Where prompts hold no more than names, only what a call really gave is told.
    """
    if case.docs == "names":
        if call is not None and call.error is None and call.tool in case.tools:
            yield from ("", *seen_fields(case.attempt.program, call, case.tools[call.tool], near=fault.path or ""))
        return
    named = [call.tool] if call is not None else [fault.tool, *(finding.tool for finding in case.attempt.findings)]
    for alias in [name for name in dict.fromkeys(named) if name is not None and name in case.tools][:_MOST_TOOLS]:
        tool = case.tools[alias]
        yield ""
        if fault.kind in ("bad_arguments", "tool_failed", "unknown_outcome"):
            # Of a call that was made, the facts above say what the argument at fault takes.
            yield called(tool) if call is not None and fault.path else signature(tool, among=case.tools)
            yield from (called(maker) for maker in makers(tool, fault, case.tools))
        elif call is not None and call.error is None:
            yield called(tool)
            yield from seen_fields(case.attempt.program, call, tool, near=fault.path or "")
        else:
            yield documentation(tool, among=case.tools)
