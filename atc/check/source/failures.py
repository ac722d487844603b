"""The name of `except … as name`, which Python takes away at the end of the block."""

from __future__ import annotations

import ast

from atc.check.report import finding
from atc.check.source.memo import children, walk
from atc.check.source.names import GIVEN
from atc.check.source.scopes import Scope, Scopes
from atc.types import Finding
from protocols.toolbox import Toolbox

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def lost_failures(scopes: Scopes, nodes: list[ast.AST], tools: Toolbox) -> list[Finding]:
    """Findings for such names that are read outside their blocks, where nothing else assigns them."""
    handlers = [node for node in nodes if isinstance(node, ast.ExceptHandler) and node.name]
    if not handlers or scopes.opaque:
        return []
    count: dict[str, int] = {}
    inside: set[ast.AST] = set()
    for handler in handlers:
        count[handler.name or ""] = count.get(handler.name or "", 0) + 1
        inside.update(
            part
            for statement in handler.body
            for part in walk(statement)
            if isinstance(part, ast.Name) and part.id == handler.name
        )
    found = []
    for node, scope, _ in scopes.loads:
        own = _binder(node.id, scope) if node.id in count and node not in inside else None
        if own is None or node in scopes.forgiven or node.id in scopes.shared or _elsewhere(own, node.id, tools):
            continue
        # In another scope of the same name the handlers of this one do not count.
        if own.sites[node.id] == _handled(own, handlers, node.id):
            message = (
                f"{node.id!r} is gone here: Python deletes the name of `except … as {node.id}` at the end of that "
                "block. Keep what you need of it under another name, inside the block."
            )
            found.append(finding("used-before-assignment", node, message, better=f"last_error = {node.id}"))
    return found


def _binder(name: str, scope: Scope) -> Scope | None:
    """The scope of the function that reads the name, if it binds it."""
    while isinstance(scope.node, _COMPREHENSIONS) and scope.parent is not None:
        if name in scope.bound:
            return None
        scope = scope.parent
    return scope if name in scope.bound else None


def _elsewhere(scope: Scope, name: str, tools: Toolbox) -> bool:
    return isinstance(scope.node, ast.Module) and (name in GIVEN or name in tools)


def _handled(scope: Scope, handlers: list[ast.ExceptHandler], name: str) -> int:
    """How many handlers of a scope, and not of a function in it, have this name."""
    own: set[ast.AST] = set()
    waiting = [*children(scope.node)]
    while waiting:
        part = waiting.pop()
        own.add(part)
        if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting += children(part)
    return sum(handler.name == name and handler in own for handler in handlers)
