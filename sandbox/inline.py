"""Saved programs within a program: each is a function before the program's own lines, so its calls are as all others.

Where a program calls a saved tool on several lines, each line has a function of its own: so the line on which the
function makes a call, or fails, tells the line of the program.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from protocols.parsing import parse
from protocols.protocol import ProgramBinding
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Failure, Frame, Trace


def run(sandbox: Sandbox, source: str, tools: Toolbox, *, limits: Limits, journal: Journal) -> Trace:
    """`sandbox.run`, with the saved tools among `tools`. All lines of the trace are those of `source`."""
    saved = {alias: b for alias, tool in tools.items() if isinstance(b := tool.protocol.binding, ProgramBinding)}
    if not saved:
        return sandbox.run(source, tools, limits=limits, journal=journal)
    inlined, before = inline(source, saved), journal.origin
    journal.origin = inlined.origin
    try:
        called = tools.only([alias for alias in tools if alias not in saved])
        return inlined.told(sandbox.run(inlined.source, called, limits=limits, journal=journal))
    finally:
        journal.origin = before


@dataclass(frozen=True, slots=True)
class Inlined:
    """A program with functions before it, or behind its imports from `__future__`, which take `first` lines."""

    source: str
    first: int = 0
    origins: tuple[tuple[int, str], ...] = ()
    """Of each line of the functions: the program's line on which it is called, and the tool."""
    names: Mapping[str, str] | None = None
    """Function → tool, where they differ."""

    def origin(self, line: int) -> tuple[int, str | None]:
        """The program's line for one of the source, and the saved tool that the source has there."""
        if line <= self.first:
            return line, None
        if line <= self.first + len(self.origins):
            return self.origins[line - self.first - 1]
        return line - len(self.origins), None

    def told(self, trace: Trace) -> Trace:
        """The trace, its failure told in the program's lines."""
        return trace if trace.failure is None else replace(trace, failure=self._told(trace.failure))

    def _told(self, failure: Failure) -> Failure:
        placed = [(self.origin(frame.line), frame.function) for frame in failure.frames]
        own = [Frame(line=line, function=function) for (line, within), function in placed if within is None]
        frames = own or [Frame(line=line) for (line, _), _ in placed[:1]]
        message = failure.message
        for name, alias in (self.names or {}).items():
            message = message.replace(name, alias)
        if failure.kind == "policy":
            message = re.sub(r"(?m)^line (\d+):", lambda found: f"line {self.origin(int(found[1]))[0]}:", message)
        within = placed[-1][0][1] if placed else None
        if within is not None and failure.kind == "exception" and failure.call is None:
            message += f" (within the saved tool {within!r})"
        return replace(failure, message=message, frames=tuple(frames))


def inline(source: str, saved: Mapping[str, ProgramBinding]) -> Inlined:
    """`source` with a function for each of the `saved` tools that it names; as it is where it cannot be read."""
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    try:
        tree = parse(source, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Inlined(source)
    lines = source.encode("utf-8", "replace").split(b"\n")  # columns of a tree count bytes
    nodes = list(ast.walk(tree))
    bound = set(bound_names(nodes))
    origins: list[tuple[int, str]] = []
    functions: list[str] = []
    names: dict[str, str] = {}
    edits: list[tuple[int, int, str, str]] = []
    for alias, binding in saved.items():
        sites = [node for node in nodes if isinstance(node, ast.Name) and node.id == alias]
        for line in _lines(sites, lines, alone=alias in bound):
            name = alias if line is None else _free(f"{alias}_line_{line}", source)
            if line is not None:
                names[name] = alias
                edits += [(line, site.col_offset, alias, name) for site in sites if site.lineno == line]
            text = re.sub(r"^def \w+", f"def {name}", binding.source.strip("\n"), count=1).split("\n")
            functions += text
            origins += [(line or min(site.lineno for site in sites), alias)] * len(text)
    for line, column, alias, name in sorted(edits, reverse=True):
        text_ = lines[line - 1]
        lines[line - 1] = text_[:column] + name.encode() + text_[column + len(alias.encode()) :]
    future = [n.end_lineno or 0 for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    first = max(future, default=0)
    own = b"\n".join(lines).decode("utf-8").split("\n")
    return Inlined("\n".join([*own[:first], *functions, *own[first:]]), first, tuple(origins), names)


def _lines(sites: list[ast.Name], lines: list[bytes], *, alone: bool) -> list[int | None]:
    """The lines that get a function each; None is one function for all, under the tool's own name."""
    found = sorted({site.lineno for site in sites})
    exact = all(lines[s.lineno - 1][s.col_offset :].startswith(s.id.encode()) for s in sites)  # not so in f-strings
    return [*found] if len(found) > 1 and exact and not alone else [None] if found else []


def bound_names(nodes: list[ast.AST]) -> Iterator[str]:
    """The names that a program gives a value anywhere, imports aside."""
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name) | ast.MatchMapping(rest=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name


def _free(name: str, source: str) -> str:
    while name in source:
        name += "_"
    return name
