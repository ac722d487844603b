"""Names of tools that the program takes for something else."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from atc.check.report import finding
from atc.check.source.memo import walk
from atc.check.source.scopes import Scopes
from atc.types import Finding
from protocols.toolbox import Tool, Toolbox


def shadowed_tools(scopes: Scopes, tools: Toolbox) -> list[Finding]:
    """A finding for each tool whose name the program binds where it would call it."""
    found: list[Finding] = []
    called = {(node.id, scope.node) for node, scope, is_call in scopes.loads if is_call}
    names_called = {name for name, _ in called}
    for scope in scopes.by_node.values():
        for name in sorted(scope.bound & tools.keys()):
            at_top = isinstance(scope.node, ast.Module)
            in_function = (
                isinstance(scope.node, ast.FunctionDef | ast.AsyncFunctionDef) and (name, scope.node) in called
            )
            if at_top or (in_function and name not in _parameters(scope.node)):
                node = _binding(scope.node, name)
                if node is not None and not (at_top and _meant(scopes, tools, name, node, names_called)):
                    found.append(_shadowed(name, node))
    return found


def _meant(scopes: Scopes, tools: Toolbox, name: str, node: ast.AST, called: set[str]) -> bool:
    """Whether the program seems to know what it does: it wraps the tool, or has no use for the tool itself."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            own = _parameters(node)
            foreign = bool(own) and not own & {*tools[name].arguments, *tools[name].arguments.values()}
            return (foreign and not _stub(node)) or _passed_before(scopes, name, node)
        case ast.Name():
            value = _assigned(scopes.module, node)
            return name not in called or (value is not None and _passes(value, name))
        case ast.ImportFrom(module=str(module)) if module.split(".")[0] in sys.stdlib_module_names:
            return not any(_takes_keywords(call, tools[name]) for call in _calls(scopes.module, name))
        case _:
            return False


def _calls(module: ast.Module, name: str) -> Iterator[ast.Call]:
    for node in walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            yield node


def _takes_keywords(call: ast.Call, tool: Tool) -> bool:
    """Whether a call is one of the tool: what the standard library has under its name takes positions."""
    return not call.args and any(keyword.arg is None or keyword.arg in tool.arguments for keyword in call.keywords)


def _stub(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function only stands in for something: its body is a docstring, `...`, `pass` or `raise`."""
    return all(
        isinstance(part, ast.Pass | ast.Raise) or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
        for part in node.body
    )


def _passed_before(scopes: Scopes, name: str, node: ast.AST) -> bool:
    """Whether the program keeps the tool under another name, or uses it, above the definition."""
    line = getattr(node, "lineno", 0)
    return any(load.id == name and load.lineno < line and not is_call for load, _, is_call in scopes.loads)


def _assigned(module: ast.Module, target: ast.Name) -> ast.expr | None:
    """What the assignment gives whose target this is."""
    for statement in walk(module):
        match statement:
            case ast.Assign(targets=targets, value=value) if target in targets:
                return value
            case ast.AnnAssign(target=ast.Name() as own, value=ast.expr() as value) if own is target:
                return value
    return None


def _passes(value: ast.expr, name: str) -> bool:
    """Whether an expression gives the tool to something (`cache(tool)`) rather than calling it."""
    called = {node.func for node in walk(value) if isinstance(node, ast.Call)}
    return any(isinstance(node, ast.Name) and node.id == name and node not in called for node in walk(value))


def _parameters(node: ast.AST) -> set[str]:
    arguments = getattr(node, "args", None)
    return {part.arg for part in walk(arguments) if isinstance(part, ast.arg)} if arguments is not None else set()


def _binding(scope: ast.AST, name: str) -> ast.AST | None:
    """The first place in a scope that binds the name."""
    for node in walk(scope):
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
