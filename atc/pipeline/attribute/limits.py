"""Faults of runs that did not end with an exception: a limit was reached, or there is no answer."""

from __future__ import annotations

import ast
from collections import Counter

from atc.core.messages import format_expression, format_list, format_tool_call, snippet
from atc.core.text import count
from atc.core.types import Fact, Fault, Program
from atc.pipeline.attribute.blame import AttributionTrace
from atc.pipeline.attribute.dataflow import is_on_line, simple_name
from atc.pipeline.attribute.facts import build_fault
from sandbox.trace import Failure


def from_limit(program: Program, failure: Failure, record: AttributionTrace) -> Fault:
    """Return the fault of a run that reached a limit. The tool that made most of the calls is
    blamed.
    """
    calls = record.trace.calls
    line = failure.line
    said = failure.message.removeprefix(f"{failure.type}: ").rstrip(".")
    head = f"line {line}: " if line is not None else ""
    message = f"{head}the limit {failure.type} was reached" + (f": {said}." if said else ".")
    counts = Counter(call.tool for call in calls).most_common(5)
    made = format_list(f"{tool} {count(n, 'time')}" for tool, n in counts)
    told = [f"Calls made: {made}." if calls else "No call was made."]
    own = [call for call in calls if call.tool == counts[0][0]]
    blamed = own[-1] if own and len(own) * 2 >= len(calls) else None
    path = None
    if blamed is not None:
        repeated, times = Counter(map(format_tool_call, own)).most_common(1)[0]
        differing = [
            name
            for name in blamed.arguments
            if len({repr(call.arguments.get(name)) for call in own}) > 1
        ]
        path = differing[0] if len(differing) == 1 else None
        if times > 1:
            told.append(f"The same call was made {times} times: {repeated}.")
        elif path is not None:
            first = own[0].arguments.get(path)
            last = blamed.arguments.get(path)
            told.append(
                f"The calls differ in {path!r} alone, from {snippet(first)} to {snippet(last)}."
            )
        if blamed.outcome == "unknown" and record.facts.tools[blamed.tool].protocol.writes:
            told.append(
                f"Nobody knows whether {format_tool_call(blamed)} took effect; find out with a read."
            )
        elif blamed.error is None:
            told.append(
                f"The last one, {format_tool_call(blamed)}, answered with {snippet(blamed.result)}."
            )
    loops = [
        n
        for n in ast.walk(record.tree.root)
        if isinstance(n, ast.While) and (line is None or is_on_line(n, line))
    ]
    told += [
        f"The loop `{program.line(n.lineno)}` on line {n.lineno} did not end." for n in loops[:1]
    ]
    facts = (Fact(kind="limit", text=text) for text in told)
    return build_fault(
        "limit", message, line or (blamed.line if blamed else None), blamed, path, facts
    )


def without_answer(record: AttributionTrace) -> Fault:
    """Return the fault of a program that printed nothing and has no value, although the check found
    that it may print.
    """
    body = record.tree.root.body
    told = record.describe_survived_failures()
    blamed = None
    prints = [
        n
        for n in ast.walk(record.tree.root)
        if isinstance(n, ast.Call) and simple_name(n) == "print"
    ]
    for said, around in ((each, around) for each in prints for around in record.tree.around(each)):
        if isinstance(around, ast.If):
            test = f"`{format_expression(around.test)}` (line {around.lineno})"
            told.append(f"The print on line {said.lineno} runs only if {test}.")
        for source in (
            record.sources.find_sources(around.iter) if isinstance(around, ast.For) else ()
        ):
            for call, place in record.items(source):
                if place.value_or_none in ([], {}, None):
                    blamed = call
                    where = record.facts.result_of(call, place.path)
                    told.append(
                        f"The print on line {said.lineno} is in a loop that never ran: {where} is empty."
                    )
    told.append("Print the answer with print(...) at the end of the program.")
    message = "the program finished, but it printed nothing and its last line has no value."
    facts = (Fact(kind="line", text=text) for text in told)
    return build_fault("no_answer", message, body[-1].lineno if body else None, blamed, None, facts)
