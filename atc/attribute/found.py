"""A finding of the static check as a fault: the tool and the path behind the expression that it points at.

No call was made, so the slice alone tells: the tool whose result the expression reads, and which place in it. Types
come from the response schemas.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from atc.attribute.facts import clause
from atc.attribute.layout import Layout
from atc.attribute.paths import EACH, Path, general, text
from atc.attribute.region import AGGREGATES, compared
from atc.attribute.slice import Slicer
from atc.attribute.source import Source
from atc.attribute.syntax import called_name, simple_name
from atc.check.report import listed
from atc.types import Fault, FaultKind, Finding, Program
from protocols.schema import types
from protocols.toolbox import Toolbox

_NUMBERS = frozenset({"integer", "number", "null", "boolean"})
_ORDERING = ("wrong-operand", "none-value")
"""Codes of findings about what `max`, `sorted` and the like compare."""
_ORDERED = frozenset({"integer", "number", "string"})


class _Place(NamedTuple):
    """A place in the result of a tool, or (`argument`) one of its arguments."""

    tool: str
    path: str
    argument: bool = False


def from_findings(program: Program, findings: Sequence[Finding], tools: Toolbox) -> Fault:
    """The fault of the first finding; the others are evidence."""
    first = findings[0]
    said = [f"line {f.line}: {f.message}" + (f" (perhaps {f.suggestion})" if _adds(f) else "") for f in findings]
    kind = _kind(first.code)
    try:
        places = _Located(Layout.of(program.source), tools).places(first, kind)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        places = []
    chosen = next((place for place in places if place.tool == first.tool), places[0] if places else None)
    evidence = list(said[1:])
    others = [place for place in places if place != chosen]
    if chosen is not None and others:
        evidence.append(f"It could also be {listed(dict.fromkeys(map(_named, others)), most=3)}.")
    return Fault(
        kind=kind,
        message=said[0],
        tool=chosen.tool if chosen is not None else first.tool,
        path=chosen.path if chosen is not None else None,
        line=first.line,
        evidence=tuple(dict.fromkeys(evidence)),
    )


def _named(place: _Place) -> str:
    what = "argument" if place.argument else "field"
    return f"the {what} {place.path!r} of {place.tool}" if place.path else f"the result of {place.tool}"


def _adds(finding: Finding) -> bool:
    return finding.suggestion is not None and finding.suggestion not in finding.message


def _kind(code: str) -> FaultKind:
    """The kind of fault that a finding's code stands for."""
    words = set(code.lower().replace("_", "-").split("-"))
    if "syntax" in words:
        return "syntax"
    if words & {"argument", "arguments", "positional", "enum", "pattern", "range", "literal"}:
        return "bad_arguments"
    if "tool" in words:
        return "unknown_tool"
    if "output" in words:
        return "no_answer"
    if words & _OF_RESULTS:
        return "misread_result"
    return "error"


_OF_RESULTS = frozenset(
    ["key", "keys", "shape", "none", "null", "attribute", "index", "response", "result", "unpack", "unpacking"]
) | {"operand", "object", "list", "equal", "unhashable"}


class _Located:
    """Finds what a finding points at in one program."""

    def __init__(self, layout: Layout, tools: Toolbox) -> None:
        self._layout, self._tools = layout, tools
        self._slicer = Slicer(layout, tools)

    def places(self, finding: Finding, kind: FaultKind) -> list[_Place]:
        """The places that the finding is about, the likeliest first."""
        nodes = self._nodes(finding)
        if kind == "bad_arguments":
            return list(self._arguments(finding, nodes))
        if kind != "misread_result":
            return []
        for node in nodes:
            if found := list(self._misread(node, finding)):
                return list(dict.fromkeys(found))
        return []

    def _nodes(self, finding: Finding) -> list[ast.expr]:
        """The expressions that stand exactly where the finding is, outermost first; else those of its line there."""
        begin, end = (finding.line, finding.column), finding.end_column
        every = [n for n in ast.walk(self._layout.tree) if isinstance(n, ast.expr)]
        every += [
            ast.copy_location(ast.BinOp(n.target, n.op, n.value), n)
            for n in ast.walk(self._layout.tree)
            if isinstance(n, ast.AugAssign)
        ]
        there = [n for n in every if (n.lineno, n.col_offset) == begin]
        exact = [n for n in there if n.end_col_offset == end and (n.end_lineno or n.lineno) == n.lineno]
        return exact or sorted(there, key=lambda n: (-(n.end_lineno or 0), -(n.end_col_offset or 0)))

    def _arguments(self, finding: Finding, nodes: Sequence[ast.expr]) -> Iterator[_Place]:
        """The argument of a tool's call that the finding stands in or names."""
        for node in nodes:
            for inner, around in zip((node, *self._layout.ancestors(node)), self._layout.ancestors(node), strict=False):
                if isinstance(around, ast.Call) and called_name(around) in self._tools:
                    if isinstance(inner, ast.keyword) and inner.arg is not None:
                        yield _Place(called_name(around), inner.arg, argument=True)
                        return
                    break
        named = re.search(r"argument '(\w+)'", finding.message)
        if finding.tool is not None and named is not None:
            yield _Place(finding.tool, named.group(1), argument=True)

    def _misread(self, node: ast.expr, finding: Finding) -> Iterator[_Place]:
        parent = self._layout.parents.get(id(node))
        match node, parent:
            case ast.Constant(), ast.Subscript(slice=index) if index is node:
                yield from self._of(parent)
            case ast.Constant(value=str()), ast.Call(func=ast.Attribute()):
                yield from self._of(parent)
            case ((ast.Compare() | ast.BinOp()), _):
                yield from self._operands(node)
            case ast.Subscript(value=holder) | ast.Attribute(value=holder), _ if self._is_of(holder, finding.code):
                yield from self._of(holder)
            case _ if finding.code in _ORDERING and (call := self._ordering(node)) is not None:
                for expr, path in compared(call, self._layout):
                    yield from self._of(expr, path)
            case _:
                yield from self._of(node)

    def _is_of(self, holder: ast.expr, code: str) -> bool:
        """Whether a finding at `x[k]` or `x.k` is about `x`: `x` has no such part, or is no list although it should."""
        if code != "not-a-list":
            return code in ("not-an-object", "no-attribute")
        kinds = frozenset[str]().union(*(self._types(source) for _, source in self._traced(holder)))
        return "array" not in kinds and "object" in kinds and self._no_key(holder)

    def _no_key(self, holder: ast.expr) -> bool:
        """Whether `holder` is subscripted with something that is no key."""
        parent = self._layout.parents.get(id(holder))
        index = parent.slice if isinstance(parent, ast.Subscript) else None
        return not (isinstance(index, ast.Constant) and isinstance(index.value, str))

    def _ordering(self, node: ast.expr) -> ast.Call | None:
        """The call of `max`, `sorted`, … that orders by what the node stands in."""
        for around in self._layout.ancestors(node):
            if isinstance(around, ast.Call):
                return around if simple_name(around) in AGGREGATES else None
        return None

    def _operands(self, node: ast.Compare | ast.BinOp) -> Iterator[_Place]:
        """The operands whose type does not fit the operator; all that come from calls where none stands out."""
        parts: list[tuple[ast.expr, Path]] = [(part, ()) for part in _leaves(node)]
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            parts = [(node.left, ()), *((part, (EACH,)) for part in node.comparators)]
        places = [(place, self._types(source)) for part, path in parts for place, source in self._traced(part, path)]
        ordering = isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)
        fitting = _ORDERED if ordering or isinstance(node, ast.Compare) else _NUMBERS
        odd = [place for place, kinds in places if kinds and not kinds & fitting]
        yield from odd or [place for place, _ in places]

    def _of(self, node: ast.expr, path: Path = ()) -> Iterator[_Place]:
        yield from (place for place, _ in self._traced(node, path))

    def _traced(self, node: ast.expr, path: Path = ()) -> Iterator[tuple[_Place, Source]]:
        """The places that a value comes from, nearest first: unchanged where some does, else computed."""
        found = [s for s in self._slicer.sources(node, path) if s.kind == "call" and s.tool in self._tools]
        exact = [source for source in found if source.exact]
        for source in reversed(exact or found):
            yield _Place(source.tool, text(general(self._full(source)))), source

    def _full(self, source: Source) -> Path:
        """The path in the full response: programs do not see the field that is unwrapped."""
        wrapper = self._tools[source.tool].wrapper
        return (wrapper, *source.path) if wrapper is not None else source.path

    def _types(self, source: Source) -> frozenset[str]:
        """The types that the schema gives the place; empty where it does not say."""
        found, _ = clause(self._tools, source.tool, self._full(source))
        return frozenset(types(found)) if found is not None else frozenset()


def _leaves(node: ast.expr) -> Iterator[ast.expr]:
    """The operands of nested operators."""
    match node:
        case ast.BinOp(left=left, right=right):
            yield from _leaves(left)
            yield from _leaves(right)
        case ast.Compare(left=left, comparators=others):
            for part in (left, *others):
                yield from _leaves(part)
        case _:
            yield node
