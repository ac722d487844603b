"""Our way: what attribution found, what was really there, and what the line should say where facts settle that."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator, Mapping, Sequence

from atc.attribute import origins
from atc.edits import Edit, Places, edited, with_text
from atc.findings import nearest
from atc.mend import look_up_names, mend
from atc.mend.lookups import search_for
from atc.paths import at
from atc.repair.case import Case
from atc.repair.reading import called, documentation, fenceless, returned, seen_fields, signature
from atc.synthesize import described
from atc.types import Fault, Finding, Program
from protocols.ask import Message
from protocols.parsing import parse
from protocols.schema import steps
from protocols.toolbox import Producers, Tool, Toolbox
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


def facts(case: Case) -> list[Message]:
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


_MOST_LINES = 6
_MOST_MAKERS = 2


def better_lines(case: Case, fault: Fault, call: ToolCall | None) -> Iterator[str]:
    """``Line 5 should be `…`.`` for lines that facts put right; `Perhaps …` where they only make it likely."""
    program = case.attempt.program
    settled, likely = _settled(case, fault), _likely(case, fault, call)
    sure = dict(_changed(program, settled)) if settled is not None else {}
    perhaps = dict(_changed(program, likely)) if likely is not None else {}
    for number in sorted(sure.keys() | perhaps.keys())[:_MOST_LINES]:
        if number not in sure:
            yield f"Perhaps line {number} should be `{perhaps[number]}`."
        elif sure[number]:
            yield f"Line {number} should be `{sure[number]}`."
        else:
            yield f"Line {number} should be left out."


def sources(case: Case, fault: Fault, call: ToolCall | None) -> Iterator[str]:
    """Where the ids come from that a call was refused for, or found nothing with, and that no response had given."""
    if call is None or fault.kind not in ("bad_arguments", "empty_result") or call.tool not in case.tools:
        return
    tool, producers = case.tools[call.tool], Producers(case.tools)
    before = [other for other in case.calls if other.index < call.index]
    for alias, value in call.arguments.items():
        found = producers.of(tool, tool.arguments.get(alias, alias))
        other = fault.path in call.arguments and alias != fault.path
        if other or not found or isinstance(value, bool) or not isinstance(value, str | int) or origins(value, before):
            continue
        maker = case.tools[found[0].tool]
        needed = ", ".join(f"{name}=…" for name in maker.arguments if name in maker.required)
        searched = search_for(value, tool, alias, case.tools) if isinstance(value, str) else None
        made = searched or producers.expression(found[0], arguments=needed)
        yield f"- {alias!r} of {call.tool} takes what `{made}` gives."


def makers(tool: Tool, fault: Fault, tools: Toolbox) -> list[Tool]:
    """The tools that yield what a call's arguments take: the one at fault, else those that it must be given."""
    producers = Producers(tools)
    wanted = (
        [fault.path] if fault.path in tool.arguments else [name for name in tool.arguments if name in tool.required]
    )
    found = [producers.of(tool, tool.arguments[alias or ""]) for alias in wanted]
    aliases = dict.fromkeys(best[0].tool for best in found if best)
    return [tools[alias] for alias in aliases][:_MOST_MAKERS]


def _settled(case: Case, fault: Fault) -> Program | None:
    attempt = case.attempt
    if attempt.findings:
        return mend(attempt.program, attempt.findings, case.tools)
    return look_up_names(attempt.program, fault, attempt.trace, case.tools) if attempt.trace is not None else None


def _likely(case: Case, fault: Fault, call: ToolCall | None) -> Program | None:
    """The program with the nearest names in place of those that there are not."""
    if case.attempt.findings:
        return _with_suggestions(case.attempt.program, case.attempt.findings)
    if fault.kind != "misread_result" or call is None or not fault.path or fault.line is None:
        return None
    *above, key = steps(fault.path)
    parent = at(call.result, tuple(above))
    if not isinstance(key, str) or not isinstance(parent, Mapping) or key in parent:
        return None
    near = nearest(key, map(str, parent))
    return _with_key(case.attempt.program, fault.line, key, near) if near is not None else None


def _with_suggestions(program: Program, findings: Sequence[Finding]) -> Program:
    """The program with each misspelled key and tool under the nearest name."""
    place, edits = Places(program.source), []
    for finding in findings:
        better = finding.suggestion or ""
        if finding.code == "missing-key" and better in finding.keys:
            better = repr(better)
        elif finding.code != "unknown-tool" or not better.isidentifier():
            continue
        start, end = (place.at(finding.line, column) for column in (finding.column, finding.end_column))
        edits.append(Edit(start, end, better))
    return edited(program, edits)


def _with_key(program: Program, number: int, key: str, near: str) -> Program | None:
    """The program with `near` for the one text `key` on a line."""
    nodes = [node for node in ast.walk(parse(program.source)) if isinstance(node, ast.Constant) and node.value == key]
    written = [node for node in nodes if node.lineno == number]
    return with_text(program, written[0], repr(near)) if len(written) == 1 else None


def _changed(program: Program, better: Program) -> list[tuple[int, str]]:
    """1-based numbers of the lines that differ, with what stands there in `better`; inserted lines go with the next."""
    old, new = program.source.splitlines(), better.source.splitlines()
    found: list[tuple[int, str]] = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        lines = [line.strip() for line in new[new_start:new_end] if line.strip()]
        if kind == "insert" and start < len(old):
            found.append((start + 1, "; ".join([*lines, old[start].strip()])))
        elif kind == "replace" and end - start == len(lines):
            found += [(start + n + 1, line) for n, line in enumerate(lines)]
        elif kind in ("replace", "delete"):
            found.append((start + 1, "; ".join(lines)))
    return found
