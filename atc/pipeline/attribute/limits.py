"""Faults of executions without an exception: those that reached a limit or gave no answer."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from atc.core.messages import format_expression, format_list, format_tool_call, snippet
from atc.core.program import Program
from atc.core.text import count
from atc.core.types import Fact, Fault
from atc.pipeline.attribute.blame import AttributionTrace
from atc.pipeline.attribute.dataflow import is_on_line, simple_name
from atc.pipeline.attribute.facts import build_fault
from sandbox.trace import Failure, ToolCall


def from_limit(program: Program, failure: Failure, record: AttributionTrace) -> Fault:
    """Return the fault of an execution that reached a limit.

    If at least half of the calls are of one tool, the last call of this tool is blamed.
    """
    calls = record.trace.calls
    line = failure.line
    detail = failure.message.removeprefix(f"{failure.type}: ").rstrip(".")
    head = f"line {line}: " if line is not None else ""
    message = f"{head}the limit {failure.type} was reached" + (f": {detail}." if detail else ".")
    counts = Counter(call.tool for call in calls).most_common(5)
    made = format_list(f"{tool} {count(n, 'time')}" for tool, n in counts)
    sentences = [f"Calls made: {made}." if calls else "No call was made."]
    own = [call for call in calls if call.tool == counts[0][0]]
    blamed = own[-1] if own and len(own) * 2 >= len(calls) else None
    path = None
    if blamed is not None:
        path = _find_differing_argument(own)
        sentences += _describe_calls(own, path, record)
        line = line or blamed.line
    sentences += _describe_endless_loop(program, failure.line, record)
    facts = (Fact(kind="limit", text=text) for text in sentences)
    return build_fault("limit", message, line, blamed, path, facts)


def _find_differing_argument(calls: Sequence[ToolCall]) -> str | None:
    """Return the name of the only argument in which calls of one tool differ.

    Return None if the calls differ in several arguments or in none.
    """
    differing = []
    for name in calls[-1].arguments:
        values = {repr(call.arguments.get(name)) for call in calls}
        if len(values) > 1:
            differing.append(name)
    return differing[0] if len(differing) == 1 else None


def _describe_calls(
    calls: Sequence[ToolCall], path: str | None, record: AttributionTrace
) -> Iterator[str]:
    """Yield sentences about many calls of one tool.

    `path` is the only argument in which the calls differ, or None.
    """
    last = calls[-1]
    repeated, times = Counter(map(format_tool_call, calls)).most_common(1)[0]
    if times > 1:
        yield f"The same call was made {times} times: {repeated}."
    elif path is not None:
        first_value = snippet(calls[0].arguments.get(path))
        last_value = snippet(last.arguments.get(path))
        yield f"The calls differ in {path!r} alone, from {first_value} to {last_value}."
    call = format_tool_call(last)
    if last.outcome == "unknown" and record.facts.tools[last.tool].protocol.writes:
        yield f"Nobody knows whether {call} took effect; find out with a read."
    elif last.error is None:
        yield f"The last one, {call}, answered with {snippet(last.result)}."


def _describe_endless_loop(
    program: Program, line: int | None, record: AttributionTrace
) -> list[str]:
    """Return a list with a sentence about the first `while` loop that contains a line.

    The list is empty if there is no such loop.
    """
    for node in ast.walk(record.tree.root):
        if isinstance(node, ast.While) and (line is None or is_on_line(node, line)):
            text = program.line(node.lineno)
            return [f"The loop `{text}` on line {node.lineno} did not end."]
    return []


def without_answer(record: AttributionTrace) -> Fault:
    """Return the fault of a program that ended normally without an answer.

    It printed nothing, and its last line has no value.
    """
    body = record.tree.root.body
    sentences = record.describe_survived_failures()
    blamed = None
    prints = [
        n
        for n in ast.walk(record.tree.root)
        if isinstance(n, ast.Call) and simple_name(n) == "print"
    ]
    pairs = [(each, around) for each in prints for around in record.tree.around(each)]
    for print_call, around in pairs:
        head = f"The print on line {print_call.lineno}"
        if isinstance(around, ast.If):
            test = f"`{format_expression(around.test)}` (line {around.lineno})"
            sentences.append(f"{head} runs only if {test}.")
        for source in (
            record.sources.find_sources(around.iter) if isinstance(around, ast.For) else ()
        ):
            for call, place in record.items(source):
                if place.value_or_none in ([], {}, None):
                    blamed = call
                    where = record.facts.result_of(call, place.path)
                    sentences.append(f"{head} is in a loop that never ran: {where} is empty.")
    sentences.append("Print the answer with print(...) at the end of the program.")
    message = "the program finished, but it printed nothing and its last line has no value."
    facts = (Fact(kind="line", text=text) for text in sentences)
    return build_fault("no_answer", message, body[-1].lineno if body else None, blamed, None, facts)
