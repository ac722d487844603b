"""Can the program give an answer at all? It must print something or end in an expression."""

from __future__ import annotations

import ast

from atc.check.report import finding, spelled
from atc.types import Finding

_WRITERS = {"print", "pprint", "pp", "display", "exec", "eval", "write", "writelines", "print_exc", "info", "dump"}


def output_findings(module: ast.Module, nodes: list[ast.AST]) -> list[Finding]:
    """At most one finding: nothing is printed and the last statement is no expression."""
    body = module.body
    if not body:
        return [finding("no-output", module, "the program is empty. Write one that calls tools and prints the answer.")]
    if any(isinstance(node, ast.Call) and _writes(node.func) for node in nodes):
        return []
    last = body[-1]
    if isinstance(last, ast.Expr) and not _is_text(module, last):
        return []
    if any(isinstance(node, ast.Name) and node.id in _WRITERS for node in nodes):
        return []
    names = _assigned(last)
    better = f"print({names})" if names else "print(…)"
    message = f"the program gives no answer: it prints nothing and does not end in an expression. End with {better}."
    return [finding("no-output", last, message, better=better)]


def _writes(func: ast.expr) -> bool:
    name = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
    return name in _WRITERS


def _is_text(module: ast.Module, last: ast.Expr) -> bool:
    """A lone docstring is no answer."""
    return len(module.body) == 1 and isinstance(last.value, ast.Constant) and isinstance(last.value.value, str)


def _assigned(last: ast.stmt) -> str | None:
    match last:
        case ast.Assign(targets=[ast.Name() as target]) | ast.AugAssign(target=ast.Name() as target):
            return spelled(target)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return f"{name}()"
        case _:
            return None
