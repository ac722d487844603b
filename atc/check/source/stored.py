"""Names that statements assign and read, as far as they certainly do."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from atc.check.source.memo import children, once_a_node, walk

_OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_PLAIN = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.With, ast.AsyncWith)


def stored(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Every name that the code assigns, itself and not in a function of its own."""
    for node in nodes:
        yield from _stored_in(node)


@once_a_node
def _stored_in(node: ast.AST) -> frozenset[str]:
    own: list[str] = []
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return frozenset((name,))
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            own.append(name)
        case ast.alias(name=name, asname=other):
            own.append(other or name.split(".")[0])
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            own.append(name)
        case ast.ExceptHandler(name=str(name)):
            own.append(name)
        case ast.comprehension():
            return frozenset(stored([node.iter, *node.ifs]))
    if isinstance(node, _OWN_SCOPE):
        return frozenset(own)
    return frozenset(own).union(*map(_stored_in, children(node)))


def read_at_once(node: ast.AST) -> Iterator[ast.Name]:
    """The names that evaluating the code certainly reads: not those under a condition of its own."""
    match node:
        case ast.Name(ctx=ast.Load()):
            yield node
            return
        case ast.IfExp(test=test):
            parts: Iterable[ast.AST] = [test]
        case ast.BoolOp(values=values):
            parts = values[:1]
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            parts = [node.generators[0].iter]
        case ast.Lambda():
            parts = ()
        case ast.AugAssign(target=ast.Name(id=name) as target, value=value):
            parts = [ast.copy_location(ast.Name(name, ast.Load()), target), value]
        case _:
            parts = children(node)
    for part in parts:
        yield from read_at_once(part)


def every_turn(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a loop that every turn of it runs."""
    for statement in body:
        if isinstance(statement, _PLAIN):
            yield statement
        if any(isinstance(part, ast.Continue | ast.Break) for part in walk(statement)):
            return


@once_a_node
def added(node: ast.AST) -> frozenset[str]:
    """The names to which the code adds (`+=`): that they need a first value is another fault."""
    parts = (part.target for part in walk(node) if isinstance(part, ast.AugAssign))
    return frozenset(target.id for target in parts if isinstance(target, ast.Name))
