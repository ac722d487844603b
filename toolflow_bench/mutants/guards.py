"""`missing_guard`: the test that a value is there, or the handler of a failed call, is gone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from atc.attribute.paths import text
from protocols.protocol import HttpBinding
from toolflow_bench.mutants.edit import text_of
from toolflow_bench.mutants.making import Edit, Where, in_response, mutant_of
from toolflow_bench.mutants.mutant import Mutant
from toolflow_bench.mutants.observe import Gold, Seen


def missing_guards(gold: Gold, _rng: object) -> Iterator[Mutant]:
    """A mutant for each guard.

    `none`: a comparison with None. `empty`: a test that a list has items. `failed`: `except ToolError`. `default`: what
    `next` gives where there is nothing.
    """
    for node in ast.walk(gold.tree):
        match node:
            case ast.Compare(left=value, ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
                yield from _without_test(gold, node, value, there=isinstance(node.ops[0], ast.IsNot), variant="none")
            case ast.If(test=test) | ast.IfExp(test=test) if not isinstance(test, ast.Compare | ast.BoolOp):
                negated = isinstance(test, ast.UnaryOp)
                tested = test.operand if isinstance(test, ast.UnaryOp) else test
                if any(isinstance(one.value, list) for one in gold.traced(tested)):
                    yield from _without_test(gold, test, tested, there=not negated, variant="empty")
            case ast.Try():
                yield from _without_handler(gold, node)
            case ast.Call(func=ast.Name(id="next"), args=[items, _]):
                yield from _without_default(gold, node, items)


def _without_test(gold: Gold, test: ast.expr, value: ast.expr, *, there: bool, variant: str) -> Iterator[Mutant]:
    """`there`: the test is true where the value is there."""
    found = _guarded(gold, value)
    if not found:
        return
    chosen = next((one for one in found if one.is_nothing), found[0])
    assert chosen.call is not None
    truth = in_response(gold, chosen.call, chosen.path, sure=len(found) == 1)
    edit = _edit(gold, test, there, variant)
    made = mutant_of(gold, "missing_guard", edit, truth)
    if made is not None:
        yield made


def _edit(gold: Gold, test: ast.expr, there: bool, variant: str) -> Edit:
    """The test away: an operand of `and` or `or`, a whole conditional expression, or a test that always holds."""
    parent = gold.parents.get(id(test))
    match parent:
        case ast.BoolOp(op=op, values=values):
            word = " and " if isinstance(op, ast.And) else " or "
            left = [text_of(gold.source, one) for one in values if one is not test]
            return Edit(node=parent, text=word.join(left), variant=variant)
        case ast.IfExp(body=body, orelse=orelse):
            return Edit(node=parent, text=text_of(gold.source, body if there else orelse), variant=variant)
    return Edit(node=test, text=str(there), variant=variant)


def _guarded(gold: Gold, value: ast.expr) -> list[Seen]:
    """The values of what a guard tests, with their origin; of a variable, those of the reads that it was given."""
    if isinstance(value, ast.Name) and _begins_as_none(gold, value.id):
        return []
    if not isinstance(value, ast.Name):
        return [one for one in gold.traced(value) if one.path]
    # The variable itself loses the origin of a None, so the reads come first.
    found: list[Seen] = []
    for node in ast.walk(gold.tree):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=given)
                | ast.NamedExpr(target=ast.Name(id=name), value=given)
            ) if name == value.id:
                found += gold.traced(given)
    return [one for one in found or gold.traced(value) if one.path]


def _begins_as_none(gold: Gold, name: str) -> bool:
    """Whether a variable is None by the program's own doing until it is replaced."""
    own = [node for node in ast.walk(gold.tree) if isinstance(node, ast.Assign)]
    named = [
        node for node in own if name in {n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    ]
    return any(isinstance(n, ast.Constant) and n.value is None for node in named for n in _given(node.value))


def _given(value: ast.expr) -> list[ast.expr]:
    return value.elts if isinstance(value, ast.Tuple) else [value]


def _without_handler(gold: Gold, node: ast.Try) -> Iterator[Mutant]:
    catches = any("ToolError" in ast.unparse(handler.type) for handler in node.handlers if handler.type is not None)
    if not catches or node.finalbody or node.orelse:
        return
    sites = [(number, site) for number, site in enumerate(gold.sites) if _within(gold, site, node.body)]
    failed = [(number, site) for number, site in sites if gold.calls[number].error is not None]
    if not sites:
        return
    call, site = (failed or sites)[0]
    tool = gold.toolbox[gold.calls[call].tool]
    binding = tool.protocol.binding
    placed = [
        alias
        for alias, name in tool.arguments.items()
        if isinstance(binding, HttpBinding) and f"{{{name}}}" in binding.url
    ]
    arguments = placed or [alias for alias in tool.arguments if alias in gold.calls[call].arguments]
    if not arguments:
        return
    wheres = [Where(site=site, tool=tool.alias, path=alias, call=call) for alias in arguments]
    body = "\n".join(text_of(gold.source, statement) for statement in node.body)
    edit = Edit(node=node, text=_dedented(body, node.body[0].col_offset), variant="failed", inner=-1)
    made = mutant_of(gold, "missing_guard", edit, wheres[0], wheres[1:])
    if made is not None:
        yield made


def _dedented(body: str, column: int) -> str:
    """Statements that stood at `column`, at the margin; the first line of each stands there already."""
    return "\n".join(line.removeprefix(" " * column) for line in body.split("\n"))


def _within(gold: Gold, site: ast.AST, body: list[ast.stmt]) -> bool:
    around = {id(node) for node in gold.ancestors(site)}
    return any(id(statement) in around for statement in body)


def _without_default(gold: Gold, node: ast.Call, items: ast.expr) -> Iterator[Mutant]:
    seen = gold.traced(items.generators[0].iter if isinstance(items, ast.GeneratorExp) else items)
    if not seen:
        return
    assert seen[0].call is not None
    truth = in_response(gold, seen[0].call, seen[0].path, sure=len(seen) == 1)
    also = _compared(gold, items, seen[0]) if isinstance(items, ast.GeneratorExp) else []
    edit = Edit(node=node, text=f"next({text_of(gold.source, items)})", variant="default")
    made = mutant_of(gold, "missing_guard", edit, truth, also)
    if made is not None:
        yield made


def _compared(gold: Gold, items: ast.GeneratorExp, first: Seen) -> list[Where]:
    """The fields that the tests of a generator ask for."""
    tests = [node for each in items.generators for test in each.ifs for node in ast.walk(test)]
    seen = [one for node in tests if isinstance(node, ast.Subscript) for one in gold.traced(node)[:1]]
    wheres = [in_response(gold, one.call, one.path, sure=False) for one in seen if one.call is not None]
    return [where for where in wheres if where.path != text(first.path)]
