"""Detection of filters that compare a field with a text that nothing contains.

A model that does not know the values of a field guesses one: `f["airline"] == "VA"`. If neither the
task nor a response nor a document has this text, the filter lets nothing through, or everything.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from atc.core.json_paths import walk_responses
from atc.core.program import Program
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall, Trace

_MOST_COMPARED = 50
"""Maximum number of texts in comparisons that are looked for in the responses."""
_SHORTEST_TEXT = 2
_FOLDING = ("lower", "casefold", "upper", "title")
"""Methods after which a comparison ignores the case of letters."""


class UnmatchedFilter(NamedTuple):
    """A comparison of a response's field with a text that nothing contains.

    `place` is the expression that reads the field, and `key` its key.
    """

    place: str
    key: str
    text: str
    line: int


def find_unmatched_filters(
    task: str, program: Program, calls: Sequence[ToolCall], tools: Toolbox
) -> list[UnmatchedFilter]:
    """Return the comparisons of fields with texts that no task, response or document contains.

    A field that is compared with a known text too is left out, because the program then tries
    several, and so are texts with digits, which may be computed, and texts that the program has in
    another place.
    """
    keys = {path[-1] for _, path, _ in walk_responses(calls) if path}
    compared = [one for one in _find_filters(program.tree) if one.key in keys]
    if not compared:
        return []
    known = _known_text(task, calls, tools)
    matched = {one.place for one in compared if _is_known(one.text, known, program)}
    return [one for one in compared[:_MOST_COMPARED] if one.place not in matched]


def _is_known(text: str, known: str, program: Program) -> bool:
    """Return True if a text is too short or too computed to be looked for, or if it occurs."""
    if len(text) < _SHORTEST_TEXT or any(map(str.isdigit, text)):
        return True
    written = re.escape(json.dumps(text, ensure_ascii=False)[1:-1].casefold())
    is_elsewhere = program.source.casefold().count(text.casefold()) > 1
    return is_elsewhere or re.search(rf"(?<!\w){written}(?!\w)", known) is not None


def _known_text(task: str, calls: Sequence[ToolCall], tools: Toolbox) -> str:
    """Return the task, the responses and the documents of the tools as one text."""
    protocols = [tool.protocol for tool in tools.values()]
    documents = [
        [one.title, one.description, one.input_schema, one.output_schema, one.examples]
        for one in protocols
    ]
    values = [documents, [call.result for call in calls], [call.error for call in calls]]
    return f"{task}\n{json.dumps(values, ensure_ascii=False, default=repr)}".casefold()


def _find_filters(tree: ast.Module) -> Iterator[UnmatchedFilter]:
    """Yield the comparisons of a field, such as `row["kind"]`, with a constant text."""
    nodes = list(ast.walk(tree))
    branching = {inner for node in nodes for inner in _parts_of_branching_test(node)}
    for node in nodes:
        if not isinstance(node, ast.Compare) or len(node.ops) > 1 or node in branching:
            continue
        if not isinstance(node.ops[0], ast.Eq | ast.NotEq | ast.In | ast.NotIn):
            continue
        left, right = node.left, node.comparators[0]
        for field, other in ((left, right), (right, left)):
            key = _key_of(field)
            for value in _items(other) if key is not None else ():
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield UnmatchedFilter(ast.unparse(field), str(key), value.value, node.lineno)


def _parts_of_branching_test(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a test that chooses between two ways, which is no filter."""
    if isinstance(node, ast.IfExp) or (isinstance(node, ast.If) and node.orelse):
        yield from ast.walk(node.test)


def _key_of(node: ast.expr) -> str | None:
    """Return the key that an expression reads, as in `row["kind"].lower()`, or None."""
    match node:
        case ast.Subscript(slice=ast.Constant(value=str(key))):
            return key
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(key)), *_]):
            return key
        case ast.Call(func=ast.Attribute(attr=name, value=inner), args=[]) if name in _FOLDING:
            return _key_of(inner)
        case ast.BoolOp(op=ast.Or(), values=[first, *_]):
            return _key_of(first)
    return None


def find_vain_comparisons(program: Program, trace: Trace, answer: str) -> Iterator[str]:
    """Yield a doubt for each text in a comparison of the program that no response contains.

    This is for an empty answer: the comparison may be the reason.
    """
    results = json.dumps([call.result for call in trace.calls], ensure_ascii=False, default=repr)
    lowered = results.lower()
    folds = any(f".{name}(" in program.source for name in _FOLDING)
    for side in islice(_compared_values(ast.walk(program.tree)), _MOST_COMPARED):
        if isinstance(side, ast.Constant) and isinstance(side.value, str) and side.value:
            written = json.dumps(side.value, ensure_ascii=False)[1:-1]
            place = lowered.find(written.lower())
            if place < 0 or (not folds and written not in results):
                found = results[place : place + len(written)] if place >= 0 else ""
                near = f", but one holds {found!r}" if found else ""
                where = f"line {side.lineno} compares with {side.value!r}"
                yield f"It printed {answer!r}: {where}, which no result holds{near}."


def _compared_values(nodes: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """Yield both sides of each comparison, and the items of a tuple, list or set in it."""
    for node in nodes:
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                yield from _items(side)


def _items(node: ast.expr) -> list[ast.expr]:
    """Return the items of a literal tuple, list or set, or else the expression itself."""
    return node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
