"""Check that a gold program needs each of its calls.

All calls of one tool on one line of the program form a *site*. The results of a site are replaced
together: first by the smallest value that the response schema allows (no items, empty texts,
zeros), then by values that occur in the question. Each replacement must change the answer or the
writes, otherwise the calls are not needed. A failure of the program counts as a change.

If the answer is that nothing exists, or if all results of a site are empty, an empty replacement
cannot change the answer. Then it is enough that one of many replacements changes it: the smallest
values, very large or very small numbers, values and words of the question.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from protocols.errors import ToolError
from protocols.python_source import parse_python
from protocols.schema import Json, JsonObject, resolve, types
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.journal import canonical_call
from sandbox.trace import ToolCall
from toolflow_bench.checks.gold import GoldRun, run_program

Fill = Callable[[str], Json]
"""A function that returns a value for a JSON type: string, integer, number or boolean."""
Instead = Callable[[JsonObject], Json]
"""A function that takes the schema of a response and returns a replacement for the result."""

HUGE = 1_000_000


def find_unneeded_calls(
    program: str,
    question: str,
    run: GoldRun,
    toolbox: Toolbox,
    sandbox: Sandbox,
    *,
    nothing_found: bool,
) -> Iterator[str]:
    """Yield a sentence for each site that the program does not need.

    `nothing_found` is True if the correct answer is that nothing exists.
    """
    replay = _Replay(program, run, toolbox, sandbox)
    sites: dict[tuple[str, int], list[int]] = {}
    for number, call in enumerate(run.accepted_calls):
        sites.setdefault((call.tool, call.line), []).append(number)
    values = list(_question_constants(program, question))
    for (tool, line), numbers in sites.items():
        if toolbox[tool].protocol.writes:
            continue  # a removed write would be missing from the state anyway
        if nothing_found or all(_is_empty(run.accepted_calls[number].result) for number in numbers):
            fills = (
                _least_value,
                _numbers(HUGE),
                _numbers(-HUGE),
                *map(_fill_with, [*values, *_words(values)]),
            )
            if all(replay.is_unchanged(numbers, fill) for fill in map(_replace_by_instance, fills)):
                yield f"line {line}: nothing that {tool} could give changes the answer"
            continue
        if replay.is_unchanged(numbers, _replace_by_instance(_least_value)):
            yield f"line {line}: the answer is the same when {tool} gives nothing"
        for value in values:
            if replay.is_unchanged(numbers, _replace_by_instance(_fill_with(value))):
                yield (
                    f"line {line}: the answer is the same when {tool} gives {value!r} of the "
                    "question"
                )


def _is_empty(result: Json) -> bool:
    """Return True if a result is an empty list, or an object that has lists, all of them empty."""
    if isinstance(result, dict):
        lists = [part for part in result.values() if isinstance(part, list)]
        return bool(lists) and not any(lists)
    return isinstance(result, list) and not result


def _replace_by_instance(fill: Fill) -> Instead:
    return lambda schema: instance(schema, schema, fill)


class _Replay:
    """Runs a gold program again with its recorded responses, some of which are replaced.

    Writes are recorded but not sent.
    """

    def __init__(self, program: str, run: GoldRun, toolbox: Toolbox, sandbox: Sandbox) -> None:
        self._program = program
        self._toolbox = toolbox
        self._sandbox = sandbox
        self._calls = run.accepted_calls
        self._known: dict[str, list[ToolCall]] = {}
        for call in run.accepted_calls:
            self._known.setdefault(canonical_call(call.tool, call.arguments), []).append(call)
        self._wanted = run.answer, self._writes(run.accepted_calls)

    def is_unchanged(self, numbers: Sequence[int], instead: Instead) -> bool:
        """Run the program with the results of the calls in `numbers` replaced.

        Return True if the answer and the writes are the same as before.
        """
        replaced = {canonical_call(self._calls[n].tool, self._calls[n].arguments) for n in numbers}
        tools = self._toolbox.only({call.tool for call in self._calls})
        asked: Counter[str] = Counter()  # the n-th call gets the n-th recorded result
        doubles = tools.map(lambda tool: self._replayed_tool(tool, replaced, instead, asked))
        trace = run_program(self._program, doubles, self._sandbox)
        if trace.failure is not None:
            return False
        return (trace.stdout.strip(), self._writes(trace.calls)) == self._wanted

    def _replayed_tool(
        self, tool: Tool, replaced: set[str], instead: Instead, asked: Counter[str]
    ) -> Tool:
        def call(arguments: JsonObject, **_: object) -> Json:
            key = canonical_call(tool.alias, arguments)
            if key in replaced:
                return instead(tool.protocol.output_schema or {})
            known = self._known.get(key, [])[: asked[key] + 1][-1:]
            asked[key] += 1
            if not known or known[0].error is not None:
                raise ToolError(404, "there is none")
            return known[0].result

        return replace(tool, call=call)

    def _writes(self, calls: Sequence[ToolCall]) -> list[str]:
        return sorted(
            canonical_call(call.tool, call.arguments)
            for call in calls
            if call.outcome == "done"
            and call.error is None
            and self._toolbox[call.tool].protocol.writes
        )


def instance(schema: JsonObject, root: JsonObject, fill: Fill) -> Json:
    """Return a value that fits a response schema: required fields only, and lists of one item.

    `fill` returns the scalar values. If it returns "" for a string, lists are empty.
    """
    schema = resolve(schema, root)
    for kind in types(schema):
        match kind:
            case "object":
                properties = schema.get("properties", {})
                return {
                    key: instance(properties.get(key, {}), root, fill)
                    for key in schema.get("required", ())
                }
            case "array":
                return (
                    [] if fill("string") == "" else [instance(schema.get("items", {}), root, fill)]
                )
            case "string" | "integer" | "number" | "boolean":
                return fill(kind)
    return None


def _least_value(kind: str) -> Json:
    return {"string": "", "boolean": False}.get(kind, 0)


def _fill_with(value: str | float) -> Fill:
    """Return a `Fill` that uses `value` for every text.

    If `value` is a number, it is also used for every number; otherwise numbers are 0.
    """

    def fill(kind: str) -> Json:
        if kind == "boolean":
            return False
        if kind == "string":
            return str(value)
        if isinstance(value, str):
            return 0
        return int(value) if kind == "integer" else value

    return fill


def _numbers(value: int) -> Fill:
    return lambda kind: {"string": "x", "boolean": value > 0}.get(kind, value)


def _question_constants(program: str, question: str) -> Iterator[str | float]:
    """Yield the constants of a program that occur in the question: names, dates and numbers.

    Constants without a digit or a capital letter, such as response keys, are left out.
    """
    seen = set()
    for node in ast.walk(parse_python(program)):
        value = node.value if isinstance(node, ast.Constant) else None
        if (
            isinstance(value, str | int | float)
            and not isinstance(value, bool)
            and value not in seen
        ):
            seen.add(value)
            telling = str(value).casefold() != str(value) or any(map(str.isdigit, str(value)))
            if telling and str(value).casefold() in question.casefold():
                yield value


def _words(values: Sequence[str | float]) -> list[str]:
    """Return the first four words of each text in `values`, without repetitions."""
    return list(
        dict.fromkeys(
            word for value in values if isinstance(value, str) for word in value.split()[:4]
        )
    )
