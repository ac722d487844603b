"""Conversion of a finding of the static check to a fault.

When a program has findings, it is not executed, so there are no responses. The program text alone
shows from which tool's result the wrong expression reads, and at which path.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from atc.core.json_paths import JsonPath, format_json_path, generalize
from atc.core.program import Program
from atc.core.types import Fact, Fault, FaultKind, Finding
from atc.pipeline.attribute.dataflow import Tree, position
from atc.pipeline.attribute.sources import CallSource, CallSources
from protocols.toolbox import Toolbox

_OF_HOLDER = frozenset({"not-an-object", "no-attribute"})
"""Codes of findings that concern the object `x`, although their position is `x[k]` or `x.k`."""
_OWN = (
    "unavailable-import",
    "undefined-name",
    "used-before-assignment",
    "made-up-value",
    "fixed-answer",
    "changed-in-loop",
)
_KINDS: dict[str, FaultKind] = {
    "syntax": "syntax",
    "no-output": "no_answer",
    **dict.fromkeys(_OWN, "error"),
}
_KINDS |= {"unknown-tool": "unknown_tool", "tool-reassigned": "unknown_tool"}
"""Kind of fault, keyed by the code of the finding.

For other codes it is `bad_arguments` if the finding concerns an argument, else `misread_result`.
"""


def from_findings(program: Program, findings: Sequence[Finding], tools: Toolbox) -> Fault:
    """Return a fault for the first finding; the messages of the others become evidence."""
    first = findings[0]
    meant = [
        f" (perhaps {f.suggestion})" if f.suggestion and f.suggestion not in f.message else ""
        for f in findings
    ]
    messages = [
        f"line {f.line}: {f.message}{perhaps}" for f, perhaps in zip(findings, meant, strict=True)
    ]
    about_argument = first.argument is not None or "argument" in first.code
    kind = _KINDS.get(first.code, "bad_arguments" if about_argument else "misread_result")
    tool = first.tool
    path = first.argument
    if kind == "misread_result":
        places = _places(first, Tree(program.tree), tools)
        tool, path = next(
            (one for one in places if one[0] == first.tool), places[0] if places else (tool, path)
        )
    evidence = tuple(dict.fromkeys(Fact(kind="finding", text=one) for one in messages[1:]))
    return Fault(
        kind=kind, message=messages[0], tool=tool, path=path, line=first.line, evidence=evidence
    )


def _places(finding: Finding, tree: Tree, tools: Toolbox) -> list[tuple[str, str | None]]:
    """Return the tools from whose results the expression of a finding gets its value.

    Each comes with the path of the value in the full response. The likeliest tool comes first.
    """
    sources = CallSources(tree, tools)
    there = [n for n in ast.walk(tree.root) if position(n)[:2] == (finding.line, finding.column)]
    exact = [n for n in there if position(n)[2:] == (finding.line, finding.end_column)]
    for node in exact or there[::-1]:
        found: list[CallSource] = []
        for part, path in _find_read_expressions(node, finding, tree):
            found += sources.find_sources(part, path)
        ordered = [source for source in found if source.exact][::-1] or found[::-1]
        if ordered:
            return [(source.tool, _full_path(source, tools)) for source in ordered]
    return []


def _full_path(source: CallSource, tools: Toolbox) -> str:
    """Return the path, in the full response of a tool, of the value to which a source leads.

    If the program gets only one field of the response, the path begins with the key of this field.
    """
    wrapper = tools[source.tool].wrapper
    prefix = (wrapper,) if wrapper else ()
    return format_json_path(generalize((*prefix, *source.path)))


def _find_read_expressions(
    node: ast.AST, finding: Finding, tree: Tree
) -> Iterator[tuple[ast.expr, JsonPath]]:
    """Yield the expressions whose values a finding at `node` concerns, with paths in the values.

    For a missing key, for example, this is the expression that reads the key. For a comparison,
    these are its operands.
    """
    match node, tree.parents.get(node):
        case ast.Constant(value=str()), (
            ast.Subscript() | ast.Call(func=ast.Attribute())
        ) as reading:
            yield reading, ()
        case ast.Compare() | ast.BinOp() | ast.AugAssign(), _:
            yield from (
                (part, ()) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)
            )
        case ((ast.Subscript(value=holder) | ast.Attribute(value=holder)), _) if (
            finding.code in _OF_HOLDER
        ):
            yield holder, ()
        case ast.expr(), _:
            yield node, ()
