"""A finding of the static check as a fault: the tool and the path behind the expression that it points at.

No call was made, so the program's text alone tells: the tool whose result the expression reads, and which place in it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from atc.attribute.facts import clause
from atc.attribute.paths import EACH, Path, general, text
from atc.attribute.sources import Source, Sources
from atc.attribute.tree import Tree, called_name, position
from atc.types import Fact, Fault, FaultKind, Finding, Program
from protocols.schema import types
from protocols.toolbox import Toolbox

_OF_HOLDER = frozenset({"not-an-object", "no-attribute"})
"""Codes of findings at `x[k]` or `x.k` that are about `x`."""
_ORDERED = frozenset({"integer", "number", "string"})
_NUMBERS = frozenset({"integer", "number", "null", "boolean"})
_KINDS: dict[FaultKind, str] = {
    "syntax": "syntax",
    "bad_arguments": "argument arguments positional enum pattern range literal",
    "unknown_tool": "tool",
    "no_answer": "output",
    "misread_result": "key keys shape none null attribute index response result unpack unpacking operand object list"
    " equal unhashable",
}
"""Kinds of fault by the words of a finding's code."""


_Place = tuple[str, str]
"""A tool, and a path in its result or the name of an argument of it."""


def from_findings(program: Program, findings: Sequence[Finding], tools: Toolbox) -> Fault:
    """The fault of the first finding; the others are evidence."""
    first = findings[0]
    said = []
    for finding in findings:
        adds = finding.suggestion is not None and finding.suggestion not in finding.message
        said.append(f"line {finding.line}: {finding.message}" + (f" (perhaps {finding.suggestion})" if adds else ""))
    words = set(first.code.lower().replace("_", "-").split("-"))
    kind: FaultKind = next((kind for kind, known in _KINDS.items() if words & {*known.split()}), "error")
    places = _Located(Tree.of(program.source), tools).places(first, kind)
    chosen = next((place for place in places if place[0] == first.tool), places[0] if places else (first.tool, None))
    evidence = [Fact(kind="finding", text=text) for text in said[1:]]
    return Fault(
        kind=kind, message=said[0], tool=chosen[0],
        path=chosen[1], line=first.line, evidence=tuple(dict.fromkeys(evidence)),
    )  # fmt: skip


class _Located:
    """Finds what a finding points at in one program."""

    def __init__(self, tree: Tree, tools: Toolbox) -> None:
        self._tree, self._tools, self._sources = tree, tools, Sources(tree, tools)

    def places(self, finding: Finding, kind: FaultKind) -> list[_Place]:
        """The places that the finding is about, the likeliest first."""
        there = [n for n in self._tree.nodes() if position(n)[:2] == (finding.line, finding.column)]
        exact = [n for n in there if position(n)[2:] == (finding.line, finding.end_column)]
        nodes = [n for n in exact or there[::-1] if isinstance(n, ast.expr | ast.AugAssign | ast.keyword)]
        for node in nodes or there:
            if kind == "bad_arguments":
                found = list(self._argument(node))
            else:
                found = list(self._misread(node, finding)) if kind == "misread_result" else []
            if found:
                return found
        return []

    def _argument(self, node: ast.AST) -> Iterator[_Place]:
        """The argument that the finding stands in; of a tool's call itself, one that is unknown or missing."""
        child = node
        for around in (node, *self._tree.around(node)):
            if isinstance(around, ast.Call) and (tool := self._tools.get(called_name(around))) is not None:
                given = [keyword.arg for keyword in around.keywords]
                wrong = [name for name in given if name not in tool.arguments]
                wrong += [name for name in tool.arguments if name in tool.required and name not in given]
                inside = [child.arg] if isinstance(child, ast.keyword) else wrong
                yield from ((tool.alias, name) for name in inside[:1] if name is not None)
                return
            child = around

    def _misread(self, node: ast.AST, finding: Finding) -> Iterator[_Place]:
        parent = self._tree.parents.get(id(node))
        if isinstance(node, ast.AugAssign):
            node = ast.BinOp(node.target, node.op, node.value)
        match node, parent:
            case ast.Constant(value=str()), ast.Subscript() | ast.Call(func=ast.Attribute()):
                yield from self._of(parent)
            case ast.Compare() | ast.BinOp(), _:
                fitting = _ORDERED if isinstance(node, ast.Compare) else _NUMBERS
                within = isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn)
                parts = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
                found = [s for n in parts for s in self._traced(n, (EACH,) if within and n is not parts[0] else ())]
                odd = [source for source in found if (kinds := self._types(source)) and not kinds & fitting]
                yield from (self._place(source) for source in odd or found)
            case ast.Subscript(value=holder) | ast.Attribute(value=holder), _ if finding.code in _OF_HOLDER:
                yield from self._of(holder)
            case ast.expr(), _:
                yield from self._of(node)

    def _of(self, node: ast.AST | None, path: Path = ()) -> Iterator[_Place]:
        return (self._place(source) for source in (self._traced(node, path) if isinstance(node, ast.expr) else ()))

    def _traced(self, node: ast.expr, path: Path = ()) -> list[Source]:
        """The results that a value comes from, nearest first: unchanged where some does, else computed."""
        found = [s for s in self._sources.of(node, path) if s.kind == "call" and s.tool in self._tools]
        return [source for source in found if source.exact][::-1] or found[::-1]

    def _full(self, source: Source) -> Path:
        wrapper = self._tools[source.tool].wrapper
        return (wrapper, *source.path) if wrapper is not None else source.path

    def _place(self, source: Source) -> _Place:
        return source.tool, text(general(self._full(source)))

    def _types(self, source: Source) -> frozenset[str]:
        """The types that the schema gives the place; empty where it does not say."""
        found, _ = clause(self._tools, source.tool, self._full(source))
        return frozenset(types(found)) if found is not None else frozenset()
