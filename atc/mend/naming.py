"""Turns ids in an answer into the field that the task asks for: the airport's name instead of its code.

A program that found the right thing and printed its id lacks one lookup. The facts say so: the printed value stands in
a response at a place whose values a lookup tool takes (a link), and the task names a field of that tool's answer, but
not the field that was printed.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from atc.attribute import origins
from atc.edits import with_text
from atc.mend.join import fields_of
from atc.types import Program
from protocols.parsing import literal, parse
from protocols.toolbox import Tool, Toolbox
from sandbox.trace import Trace

_MOST_VALUES = 20


def look_up_answer(task: str, program: Program, trace: Trace, answer: str, tools: Toolbox) -> Program | None:
    """The program with its one `print` looking up what the task asks for, or None where nothing says so."""
    values, several = _values(answer)
    if not values:
        return None
    words = {_singular(word) for word in re.findall(r"[a-z]+", task.casefold())}
    choices = [_lookups(value, trace, tools, words) for value in values]
    common = set.intersection(*choices)
    calls = (node for node in ast.walk(parse(program.source)) if isinstance(node, ast.Call))
    prints = [call for call in calls if _prints_one_value(call, program.printing)]
    if len(common) != 1 or len(prints) != 1:
        return None
    alias, argument, field = common.pop()
    printed = ast.unparse(prints[0].args[0])
    one = f'{alias}({argument}={{}})["{field}"]'
    new = f"[{one.format('item')} for item in {printed}]" if several else one.format(printed)
    return with_text(program, prints[0].args[0], new)


def _values(answer: str) -> tuple[list[str], bool]:
    """The texts in an answer, and whether they were printed as one list. A value a line is printed one by one."""
    text = answer.strip()
    try:
        parsed: Any = literal(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        parsed = None
    if isinstance(parsed, list | set | tuple):
        texts = [value for value in parsed if isinstance(value, str)]
        whole = len(texts) == len(parsed) and len(texts) <= _MOST_VALUES
        return (sorted(set(texts)), True) if whole else ([], False)
    lines = sorted({line.strip() for line in text.splitlines() if line.strip()})
    return (lines, False) if len(lines) <= _MOST_VALUES else ([], False)


def _lookups(value: str, trace: Trace, tools: Toolbox, words: set[str]) -> set[tuple[str, str, str]]:
    """The (tool, argument, field) by which this value, an id, leads to a field that the task names."""
    found: set[tuple[str, str, str]] = set()
    for origin in origins(value, trace.calls):
        path = re.sub(r"\[\d+\]", "[]", origin.path)
        printed = path.rpartition(".")[2].removesuffix("[]")
        for tool in tools.values():
            required = [alias for alias in tool.arguments if alias in tool.required]
            if tool.protocol.writes or len(required) != 1 or not _takes(tool, required[0], origin.tool, path, tools):
                continue
            # "Which airlines" names the things, whose id stands under `airline`; "which tail numbers" names the ids.
            if _named(printed, words) and (_singular(printed) != required[0] or "_" in printed):
                return set()
            found |= {(tool.alias, required[0], field) for field in fields_of(tool, plain=True) if _named(field, words)}
    return found


def _takes(tool: Tool, alias: str, producer: str, path: str, tools: Toolbox) -> bool:
    """Whether a link says that values at `path` of the producer's response fill the argument."""
    name = tools[producer].protocol.name if producer in tools else producer
    return any(
        link.argument == tool.arguments[alias] and link.tool == name and link.path == path
        for link in tool.protocol.links
        if link.support != "guessed"
    )


def _named(field: str, words: set[str]) -> bool:
    """Whether the task holds every word of a field's name."""
    parts = [_singular(part) for part in field.casefold().split("_") if part]
    return bool(parts) and all(part in words for part in parts)


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and len(word) > 3 else word


def _prints_one_value(call: ast.Call, printing: str) -> bool:
    named = isinstance(call.func, ast.Name) and call.func.id == printing
    return named and len(call.args) == 1 and not isinstance(call.args[0], ast.Starred | ast.JoinedStr)
