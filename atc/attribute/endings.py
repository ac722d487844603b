"""Runs that ended without an exception of the program: a limit, or no answer."""

from __future__ import annotations

import ast
from collections import Counter

from atc.attribute.blame import Record
from atc.attribute.facts import invocation, snippet
from atc.attribute.tree import covers, simple_name
from atc.findings import listed, spelled
from atc.types import Fact, Fault, Program
from sandbox.trace import Failure, ToolCall


def from_limit(program: Program, failure: Failure, record: Record) -> Fault:
    """Which limit, and the tool that made most of the calls."""
    calls, line = record.trace.calls, failure.line
    said = failure.message.removeprefix(f"{failure.type}: ").rstrip(".")
    head = f"line {line}: " if line is not None else ""
    message = f"{head}the limit {failure.type} was reached" + (f": {said}." if said else ".")
    counts = Counter(call.tool for call in calls).most_common(5)
    own = [call for call in calls if call.tool == counts[0][0]]
    told = [f"Calls made: {listed(f'{tool} {n} times' for tool, n in counts)}." if calls else "No call was made."]
    blamed = own[-1] if own and len(own) * 2 >= len(calls) else None
    names = dict.fromkeys(name for call in own for name in call.arguments)
    varying = [name for name in names if len({repr(call.arguments.get(name)) for call in own}) > 1]
    if calls and failure.type.endswith("_seconds"):
        slowest = max(calls, key=lambda c: c.seconds)
        told.append(f"Waiting for tools took {sum(c.seconds for c in calls):.1f} s of the run.")
        told.append(f"The slowest call was {invocation(slowest)}: {slowest.seconds:.1f} s.")
    if blamed is not None:
        repeated, times = Counter(map(invocation, own)).most_common(1)[0]
        if times > 1:
            told.append(f"The same call was made {times} times: {repeated}.")
        elif len(varying) == 1:
            first, last = own[0].arguments.get(varying[0]), blamed.arguments.get(varying[0])
            told.append(f"The calls differ in {varying[0]!r} alone, from {snippet(first)} to {snippet(last)}.")
        if blamed.error is None:
            told.append(f"The last one, {invocation(blamed)}, answered with {snippet(blamed.result)}.")
        if blamed.outcome == "unknown" and record.facts.tools[blamed.tool].protocol.writes:
            told.append(f"Nobody knows whether {invocation(blamed)} took effect; find out with a read.")
    loops = [n for n in record.tree.nodes() if isinstance(n, ast.While) and (line is None or covers(n, line))]
    told += [f"The loop `{program.line(n.lineno)}` on line {n.lineno} did not end." for n in loops[:1]]
    return Fault(
        kind="limit", message=message, call=blamed.index if blamed else None, tool=blamed.tool if blamed else None,
        path=varying[0] if blamed and len(varying) == 1 else None, line=line or (blamed.line if blamed else None),
        evidence=tuple(Fact(kind="limit", text=text) for text in told),
    )  # fmt: skip


def without_answer(record: Record) -> Fault:
    """Why a program that finished printed nothing and has no value."""
    body, told = record.tree.root.body, ["The program has no statements."]
    match body[-1] if body else None:
        case ast.Assign(targets=[target, *_]) as node:
            told = [f"The program ends on line {node.lineno} with an assignment to {spelled(target)!r}."]
        case ast.stmt() as node:
            told = [f"The last statement, on line {node.lineno}, gives no value."]
    used = {node.id for node in record.tree.nodes() if isinstance(node, ast.Name)}
    uncalled = [n for n in body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and n.name not in used]
    told += [f"The function {n.name!r} on line {n.lineno} is defined but never called." for n in uncalled]
    for call in [call for call in record.trace.calls if call.error is not None][:3]:
        error = (call.error or "").rstrip(".")
        what = f"{invocation(call)} on line {call.line} (call {call.index})"
        told.append(f"{what} failed, and an `except` went on: {error}.")
    blamed: ToolCall | None = None
    prints = [node for node in record.tree.nodes() if isinstance(node, ast.Call) and simple_name(node) == "print"]
    for said, around in ((each, around) for each in prints for around in record.tree.around(each)):
        if isinstance(around, ast.If):
            told.append(
                f"The print on line {said.lineno} runs only if `{spelled(around.test)}` (line {around.lineno})."
            )
        for source in record.sources.of(around.iter) if isinstance(around, ast.For) else ():
            for call, place in record.items(source) if source.kind == "call" else ():
                if place.seen in ([], {}, None):
                    blamed, where = call, record.facts.result_of(call, place.path)
                    told.append(f"The print on line {said.lineno} is in a loop that never ran: {where} is empty.")
    told.append("Print the answer with print(...) at the end of the program.")
    return Fault(
        kind="no_answer", message="the program finished, but it printed nothing and its last line has no value.",
        call=blamed.index if blamed else None, tool=blamed.tool if blamed else None,
        line=body[-1].lineno if body else None,
        evidence=tuple(Fact(kind="line", text=text) for text in dict.fromkeys(told)),
    )  # fmt: skip
