"""Mends what the check found where the facts leave one way to write it, so that no model need be asked.

An argument under a wrong name, an object iterated for the one list it holds, a name where a code is due and a search
tool that turns the one into the other: such slips are what a small model makes most, and writing a program again costs
it ten seconds. A mended program is checked again; it runs only if nothing is found any more.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from atc.types import Finding, Program
from protocols.producers import Producer, Producers
from protocols.schema import resolve, types
from protocols.toolbox import Tool, Toolbox

_SUBSCRIPT = re.compile(r"""\[(?:'[^']*'|"[^"]*")\]$""")
_SURELY_MEANT = 0.8
"""How alike (difflib's ratio) a key must be to the one that was written."""


@dataclass(frozen=True, slots=True)
class _Edit:
    """Replace bytes `start` to `end` of the source by `text`."""

    start: int
    end: int
    text: str


def mend(program: Program, findings: tuple[Finding, ...], tools: Toolbox) -> Program | None:
    """The program with every finding mended, or None where one of them leaves a choice."""
    try:
        tree = ast.parse(program.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    source = program.source.encode()
    place = _Places(source)
    edits: list[_Edit] = []
    for finding in findings:
        edit = _edit(finding, tree, place, tools)
        if edit is None:
            return None
        edits.append(edit)
    end = len(source) + 1
    for edit in sorted(set(edits), key=lambda e: (e.start, e.end), reverse=True):
        if edit.end > end:
            return None  # two of them want the same place
        source = source[: edit.start] + edit.text.encode() + source[edit.end :]
        end = edit.start
    return Program(source.decode())


class _Places:
    """Byte offsets of the lines and columns that the syntax tree speaks of."""

    def __init__(self, source: bytes) -> None:
        self._lines = [0]
        for line in source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def start(self, node: ast.expr | ast.keyword) -> int:
        return self._lines[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.keyword) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._lines[node.end_lineno - 1] + node.end_col_offset


def _edit(finding: Finding, tree: ast.Module, place: _Places, tools: Toolbox) -> _Edit | None:
    better = finding.suggestion or ""
    subscript = _SUBSCRIPT.search(better)
    for node in _at(finding, tree):
        match finding.code, node:
            case "unknown-argument", ast.keyword(arg=str(name)) if better.isidentifier():
                return _Edit(place.start(node), place.start(node) + len(name.encode()), better)
            case "positional-argument", ast.expr() if "=" in better and not isinstance(node, ast.Call | ast.Starred):
                return _Edit(place.start(node), place.start(node), better.partition("=")[0] + "=")
            case "not-a-list", ast.Subscript(value=owner) if subscript:
                return _Edit(place.end(owner), place.end(owner), subscript.group())
            case "not-a-list" | "wrong-argument-type", ast.expr() if subscript:
                return _Edit(place.end(node), place.end(node), subscript.group())
            case "no-attribute", ast.Attribute(value=owner) if subscript:
                return _Edit(place.end(owner), place.end(node), subscript.group())
            case "missing-key", ast.Subscript(value=owner, slice=ast.Constant(value=str(key))):
                return _meant_key(key, better, place.end(owner), place.end(node))
            case "undefined-name", ast.Name() if better.startswith(("import ", "from ")):
                return _Edit(0, 0, better + "\n")
            case "bad-literal", ast.Constant(value=str(text)):
                return _looked_up(node, text, finding, tree, place, tools)
    return None


def _at(finding: Finding, tree: ast.Module) -> Iterator[ast.expr | ast.keyword]:
    """The nodes that a finding may point at, the widest first."""
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.keyword):
            begins = (node.lineno, node.col_offset) == (finding.line, finding.column)
            if begins and (node.end_lineno != finding.line or node.end_col_offset == finding.end_column):
                yield node


def _meant_key(key: str, better: str, start: int, end: int) -> _Edit | None:
    """`x["distance"]` → `x["distance_miles"]`: only for a misspelling, a missing word, or a level left out."""
    if better.startswith("[") and "…" not in better:
        return _Edit(start, end, better)
    alike = SequenceMatcher(None, key.lower(), better.lower()).ratio() >= _SURELY_MEANT
    if better and (alike or set(key.lower().split("_")) < set(better.lower().split("_"))):
        return _Edit(start, end, f"[{better!r}]")
    return None


def _looked_up(
    node: ast.expr, text: str, finding: Finding, tree: ast.Module, place: _Places, tools: Toolbox
) -> _Edit | None:
    """`airline="Hawaiian Airlines"` → `airline=search_airlines(query="Hawaiian Airlines")[0]["code"]`.

    Only where a link says which tool yields the argument's values, and that tool searches by words: one required
    argument, a free text that no other tool yields.
    """
    argument = _argument_of(node, tree)
    if finding.tool is None or finding.tool not in tools or argument is None:
        return None
    tool, producers = tools[finding.tool], Producers(tools)
    for producer in producers.of(tool, tool.arguments.get(argument, argument)):
        words = _words_argument(tools[producer.tool], producers)
        if words is not None and _is_search(producer, tools):
            found = producers.expression(producer, arguments=f"{words}={text!r}")
            return _Edit(place.start(node), place.end(node), found)
    return None


def _argument_of(value: ast.expr, tree: ast.Module) -> str | None:
    return next((node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.value is value), None)


def _words_argument(tool: Tool, producers: Producers) -> str | None:
    """The alias of the one argument by which a tool searches freely, if that is how it works."""
    required = [alias for alias in tool.arguments if alias in tool.required]
    if len(required) != 1:
        return None
    name = tool.arguments[required[0]]
    schema = resolve(tool.protocol.parameters[name], tool.protocol.input_schema)
    free = types(schema) == ("string",) and not {"enum", "const", "pattern", "format"} & schema.keys()
    return required[0] if free and not producers.of(tool, name) else None


def _is_search(producer: Producer, tools: Toolbox) -> bool:
    """Whether the values stand in a list, best match first; a lookup by the name itself would have no list."""
    return "[" in producer.path and not tools[producer.tool].protocol.writes
