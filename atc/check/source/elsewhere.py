"""What functions change that run at a time unknown to us: callbacks, threads, methods."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from atc.check.source.memo import walk
from atc.check.source.names import GIVEN
from atc.check.source.scopes import FunctionNode, Scopes


def changed_keys(functions: Iterable[FunctionNode]) -> set[str]:
    """Constant keys that they set in some dict."""
    return {
        node.slice.value
        for function in functions
        for node in walk(function)
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, str)
    }


def changed_attributes(functions: Iterable[FunctionNode]) -> set[str]:
    """Attributes that they set."""
    return {
        node.attr
        for function in functions
        for node in walk(function)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }


def touched_names(functions: Iterable[FunctionNode], scopes: Scopes) -> set[str]:
    """Names from outside that they may change the value of: stored into, called a method of, or passed on."""
    return {
        name
        for function in functions
        for name in _touched(function) - scopes.by_node[function].bound
        if _outer(name, function, scopes)
    }


def _touched(function: FunctionNode) -> set[str]:
    found: set[str] = set()
    for node in walk(function):
        match node:
            case ast.Subscript(ctx=ast.Store() | ast.Del(), value=ast.Name(id=name)):
                found.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name)), args=arguments):
                found |= {name, *_names(arguments)}
            case ast.Call(func=ast.Name(id=name), args=arguments) if name not in GIVEN:
                found |= _names(arguments)
    return found


def _names(arguments: Iterable[ast.expr]) -> set[str]:
    return {part.id for part in arguments if isinstance(part, ast.Name)}


def _outer(name: str, function: FunctionNode, scopes: Scopes) -> bool:
    """Whether an enclosing scope binds the name to something that can change: not a function, class or module."""
    scope = scopes.by_node[function].parent
    while scope is not None:
        if name in scope.bound:
            return name not in scopes.fixed
        scope = scope.parent
    return False
