"""Runs that ended without an exception of the program: a limit, or no answer."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from atc.attribute.blame import Record
from atc.attribute.facts import invocation, snippet
from atc.attribute.paths import Path
from atc.attribute.syntax import simple_name
from atc.check.report import listed, spelled
from atc.types import Fault, Program
from sandbox.trace import Failure, ToolCall

_TIMES_OUT = ("wall_seconds", "cpu_seconds")


def from_limit(program: Program, failure: Failure, record: Record) -> Fault:
    """Which limit, and the tool that made most of the calls."""
    calls = record.trace.calls
    line = failure.line
    head = f"line {line}: " if line is not None else ""
    said = failure.message.removeprefix(f"{failure.type}: ").rstrip(".")
    message = f"{head}the limit {failure.type} was reached" + (f": {said}." if said else ".")
    evidence: list[str] = []
    blamed: ToolCall | None = None
    path: str | None = None
    if calls:
        counts = Counter(call.tool for call in calls)
        evidence.append(f"Calls made: {listed(f'{tool} {n} times' for tool, n in counts.most_common(5))}.")
        tool, most = counts.most_common(1)[0]
        if most * 2 >= len(calls):
            blamed = [call for call in calls if call.tool == tool][-1]
        if failure.type in _TIMES_OUT:
            evidence.append(f"Waiting for tools took {sum(c.seconds for c in calls):.1f} s of the run.")
            slowest = max(calls, key=lambda c: c.seconds)
            evidence.append(f"The slowest call was {invocation(slowest)}: {slowest.seconds:.1f} s.")
        if blamed is not None:
            own = [call for call in calls if call.tool == tool]
            path = _varying(own)
            evidence += _repetition(own)
    else:
        evidence.append("No call was made.")
    evidence += _in_flight(record)
    evidence += _endless(program, line, record)
    return Fault(
        kind="limit",
        message=message,
        call=blamed.index if blamed else None,
        tool=blamed.tool if blamed else None,
        path=path,
        line=line if line is not None else blamed.line if blamed else None,
        evidence=tuple(evidence),
    )


def _varying(calls: list[ToolCall]) -> str | None:
    """The one argument in which calls differ."""
    names = dict.fromkeys(name for call in calls for name in call.arguments)
    varying = [name for name in names if len({repr(call.arguments.get(name)) for call in calls}) > 1]
    return varying[0] if len(varying) == 1 else None


def _repetition(calls: list[ToolCall]) -> Iterator[str]:
    """Whether one tool's calls repeat, or differ in one argument alone."""
    repeated = Counter(invocation(call) for call in calls).most_common(1)[0]
    if repeated[1] > 1:
        yield f"The same call was made {repeated[1]} times: {repeated[0]}."
        return
    if (name := _varying(calls)) is not None:
        first, last = calls[0].arguments.get(name), calls[-1].arguments.get(name)
        yield f"The calls differ in {name!r} alone, from {snippet(first)} to {snippet(last)}."
    last_call = calls[-1]
    if last_call.error is None:
        yield f"The last one, {invocation(last_call)}, answered with {snippet(last_call.result)}."


def _in_flight(record: Record) -> Iterator[str]:
    """The write that was under way when the run ended."""
    for call in record.trace.calls[-1:]:
        tool = record.facts.tools.get(call.tool)
        if call.outcome == "unknown" and tool is not None and tool.protocol.writes:
            yield f"Nobody knows whether {invocation(call)} took effect; find out with a read before calling it again."


def _endless(program: Program, line: int | None, record: Record) -> Iterator[str]:
    layout = record.slicer.layout
    for node in ast.walk(layout.tree):
        if isinstance(node, ast.While) and (line is None or node.lineno <= line <= (node.end_lineno or node.lineno)):
            yield f"The loop `{program.line(node.lineno)}` on line {node.lineno} did not end."
            return


def without_answer(record: Record) -> Fault:
    """Why a program that finished printed nothing and has no value."""
    tree = record.slicer.layout.tree
    evidence = [*_last_statement(tree), *_uncalled(tree), *_failed_calls(record)]
    blamed, idle = _idle_prints(record)
    evidence += idle
    evidence.append("Print the answer with print(...) at the end of the program.")
    return Fault(
        kind="no_answer",
        message="the program finished, but it printed nothing and its last line has no value.",
        call=blamed.index if blamed else None,
        tool=blamed.tool if blamed else None,
        line=tree.body[-1].lineno if tree.body else None,
        evidence=tuple(dict.fromkeys(evidence)),
    )


def _last_statement(tree: ast.Module) -> Iterator[str]:
    match tree.body[-1] if tree.body else None:
        case None:
            yield "The program has no statements."
        case ast.Assign(targets=[target, *_]) as node:
            name = spelled(target)
            yield f"The program ends on line {node.lineno} with an assignment to {name!r}, which is never printed."
        case ast.Expr(value=ast.Call() as call) as node:
            yield f"The last line {node.lineno} is `{spelled(call)}`, which gave None."
        case ast.Expr(value=value) as node:
            yield f"The last line {node.lineno} is `{spelled(value)}`, whose value is None."


def _uncalled(tree: ast.Module) -> Iterator[str]:
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name not in used:
            yield f"The function {node.name!r} on line {node.lineno} is defined but never called."
        if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test):
            yield f"Line {node.lineno} tests __name__; write those statements at the top level instead."
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and not _prints(n)]
    for node in functions:
        if any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(node)) and _ends_with(
            tree, node.name
        ):
            yield f"The value that {node.name!r} returns is not printed."


def _prints(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Call) and getattr(n.func, "id", "") == "print" for n in ast.walk(node))


def _ends_with(tree: ast.Module, name: str) -> bool:
    last = tree.body[-1]
    return (
        isinstance(last, ast.Assign) and isinstance(last.value, ast.Call) and getattr(last.value.func, "id", "") == name
    )


def _failed_calls(record: Record) -> Iterator[str]:
    failed = [call for call in record.trace.calls if call.error is not None]
    for call in failed[:3]:
        what = f"{invocation(call)} on line {call.line} (call {call.index})"
        yield f"{what} failed, and an `except` went on: {call.error}."


def _idle_prints(record: Record) -> tuple[ToolCall | None, list[str]]:
    """The loop over an empty result, or the test, that kept every print from running."""
    layout = record.slicer.layout
    blamed: ToolCall | None = None
    told: list[str] = []
    for node in ast.walk(layout.tree):
        if not isinstance(node, ast.Call) or simple_name(node) != "print":
            continue
        for around in layout.ancestors(node):
            head = f"The print on line {node.lineno}"
            if isinstance(around, ast.For):
                for call, path in _empty_results(around.iter, record):
                    blamed = call
                    loop = f"{head} is in the loop on line {around.lineno}, which never ran"
                    told.append(f"{loop}: {record.facts.result_of(call, path)} is empty.")
            elif isinstance(around, ast.If):
                told.append(f"{head} runs only if `{spelled(around.test)}` (line {around.lineno}).")
    return blamed, told


def _empty_results(expr: ast.expr, record: Record) -> Iterator[tuple[ToolCall, Path]]:
    for source in record.slicer.sources(expr):
        for call in record.calls(source) if source.kind == "call" else ():
            place = next(record.places(call, source.path), None)
            if place is not None and place.seen in ([], {}, None):
                yield call, place.path
