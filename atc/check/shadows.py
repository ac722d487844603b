"""Names of tools that the program takes for something else."""

from __future__ import annotations

import ast

from atc.check.report import finding
from atc.check.scopes import Scopes
from atc.types import Finding
from protocols.toolbox import Toolbox


def shadowed_tools(scopes: Scopes, tools: Toolbox) -> list[Finding]:
    """A finding for each tool whose name the program binds where it would call it."""
    found: list[Finding] = []
    called = {(node.id, scope.node) for node, scope, is_call in scopes.loads if is_call}
    for scope in scopes.by_node.values():
        for name in sorted(scope.bound & tools.keys()):
            at_top = isinstance(scope.node, ast.Module)
            in_function = (
                isinstance(scope.node, ast.FunctionDef | ast.AsyncFunctionDef) and (name, scope.node) in called
            )
            if at_top or (in_function and name not in _parameters(scope.node)):
                node = _binding(scope.node, name)
                if node is not None:
                    found.append(_shadowed(name, node))
    return found


def _parameters(node: ast.AST) -> set[str]:
    arguments = getattr(node, "args", None)
    return {part.arg for part in ast.walk(arguments) if isinstance(part, ast.arg)} if arguments is not None else set()


def _binding(scope: ast.AST, name: str) -> ast.AST | None:
    """The first place in a scope that binds the name."""
    for node in ast.walk(scope):
        match node:
            case ast.Name(id=own, ctx=ast.Store()) if own == name:
                return node
            case ast.FunctionDef(name=own) | ast.AsyncFunctionDef(name=own) | ast.ClassDef(name=own) if own == name:
                return node
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                if any((alias.asname or alias.name.split(".")[0]) == name for alias in names):
                    return node
    return None


def _shadowed(name: str, node: ast.AST) -> Finding:
    match node:
        case ast.Import() | ast.ImportFrom():
            message = f"{name} need not be imported: every tool is there already. Leave the import out."
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            message = f"{name!r} is a tool, and this definition replaces it. Leave it out: the tool is there already."
        case _:
            message = f"{name!r} is a tool, and this assignment replaces it. Use another name for the value."
    return finding("tool-reassigned", node, message, tool=name, better=f"{name}_result")
