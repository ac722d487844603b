"""Programs that end with a `return` outside of functions, as if the program were a function.

This module imports only the standard library.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def has_return(tree: ast.Module) -> bool:
    """Return True if a program has a `return` outside of functions."""
    return any(isinstance(node, ast.Return) for node in _own_nodes(tree))


def compile_returning(tree: ast.Module, filename: str) -> CodeType:
    """Return the code of a program that may return a value. Executing the code returns the value.

    The program becomes the body of a function in which all its variables are global, so that it is
    executed like a module. `tree` is changed.

    Raises:
        SyntaxError: the program has an error of syntax.
    """
    own = list(_own_nodes(tree))
    names = sorted({name for node in own for name in _names_bound_by(node)})
    is_async = any(_awaits(node) for node in own)
    body = [_Plain().visit(statement) for statement in tree.body]
    if isinstance(body[-1], ast.Expr):
        body[-1] = ast.copy_location(ast.Return(body[-1].value), body[-1])
    if names:
        body.insert(0, ast.copy_location(ast.Global(names), body[0]))
    kind = ast.AsyncFunctionDef if is_async else ast.FunctionDef
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    function = kind(name="<module>", args=nothing, body=body, decorator_list=[])
    module = ast.Module([ast.copy_location(function, body[0])], [])
    code = compile(ast.fix_missing_locations(module), filename, "exec", dont_inherit=True)
    return next(constant for constant in code.co_consts if isinstance(constant, CodeType))


class _Plain(ast.NodeTransformer):
    """Replaces statements that a function may not have for global variables."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Replace `x: int = 1` by `x = 1`."""
        if not isinstance(node.target, ast.Name):
            return node
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign([node.target], node.value), node)

    def visit_Global(self, node: ast.Global) -> ast.AST:
        """Remove `global`, which has no effect in a module."""
        return ast.copy_location(ast.Pass(), node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Visit the statements inside of a node, but not those of other scopes."""
        return node if isinstance(node, _SCOPES) else super().generic_visit(node)


def _own_nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes of a module, without those in functions, classes and comprehensions.

    Of a comprehension, the names that `:=` binds are included.
    """
    waiting: list[ast.AST] = [*tree.body]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, _COMPREHENSIONS):
            inside = ast.walk(node)
            yield from (one for one in inside if isinstance(one, ast.NamedExpr | ast.comprehension))
            waiting += [one.target for one in ast.walk(node) if isinstance(one, ast.NamedExpr)]
            waiting += [one for one in ast.walk(node) if isinstance(one, ast.Await)]
        elif not isinstance(node, _SCOPES):
            waiting += ast.iter_child_nodes(node)


def _awaits(node: ast.AST) -> bool:
    is_comprehension = isinstance(node, ast.comprehension) and node.is_async
    return isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith)) or bool(is_comprehension)


def _names_bound_by(node: ast.AST) -> list[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return [name]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            return [name]
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [one.asname or one.name.split(".")[0] for one in names]
    return []
