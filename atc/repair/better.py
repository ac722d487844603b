"""What a line should say, where facts settle it or make it likely, and where the ids come from that a call lacked."""

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
from atc.types import Fault, Finding, Program
from protocols.parsing import parse
from protocols.producers import Producers
from protocols.schema import steps
from protocols.toolbox import Tool, Toolbox
from sandbox.trace import ToolCall

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
