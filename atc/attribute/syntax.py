"""Small questions about syntax: which function a call calls, which argument a parameter gets, what a target binds."""

from __future__ import annotations

import ast

from atc.attribute.layout import Function, Layout
from atc.attribute.paths import Path


def called_name(call: ast.Call) -> str:
    """The plain name that a call calls, also through `asyncio.to_thread(f, …)`, `executor.submit(f, …)` and partial."""
    match call:
        case ast.Call(func=ast.Name(id="to_thread" | "partial"), args=[ast.Name(id=name), *_]):
            return name
        case ast.Call(func=ast.Attribute(attr="to_thread" | "submit" | "partial"), args=[ast.Name(id=name), *_]):
            return name
        case ast.Call(func=ast.Call() as inner) if simple_name(inner) == "partial":
            return called_name(inner)
        case ast.Call(func=ast.Name(id=name)):
            return name
    return ""


def simple_name(call: ast.Call) -> str:
    """`f` of `f(…)` and of `module.f(…)`; empty for anything else."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def rooted(expr: ast.expr) -> ast.expr:
    """What an expression starts from: `xs` of `xs[0]`, `xs.most_common(1)` and `sorted(xs)`."""
    while True:
        match expr:
            case ast.Subscript(value=value) | ast.Attribute(value=value) | ast.Call(func=ast.Attribute(value=value)):
                expr = value
            case ast.Call(args=[value, *_]):
                expr = value
            case _:
                return expr


def returned(function: Function) -> list[ast.expr]:
    """The values that a function returns, in order of the text."""
    own: list[ast.expr] = []
    stack: list[ast.AST] = list(reversed(function.body))
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            own.append(node.value)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            stack.extend(reversed(list(ast.iter_child_nodes(node))))
    return own


def names_in(target: ast.expr) -> set[str]:
    """The names that a target binds or uses."""
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}


def target_steps(target: ast.expr, name: str) -> Path | None:
    """Where in the value that is bound to `target` the part for `name` stands; None when it binds no such name."""
    match target:
        case ast.Name(id=found):
            return () if found == name else None
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for i, part in enumerate(parts):
                inner = target_steps(part, name)
                if inner is not None:
                    return (i, *inner)
    return None


def position_of(args: ast.arguments, name: str) -> int | None:
    """The position of a parameter; None when there is none of this name."""
    names = [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return names.index(name) if name in names else None


def argument_of(call: ast.Call, name: str, position: int | None, *, bound: bool = False) -> ast.expr | None:
    """What a call gives for the parameter `name` at `position`; `bound`: for a method, whose `self` is not given."""
    offset = -1 if bound else 1 if called_name(call) != _plain(call.func) else 0
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if position is not None and 0 <= position + offset < len(call.args):
        return call.args[position + offset]
    return None


def _plain(func: ast.expr) -> str:
    return func.id if isinstance(func, ast.Name) else ""


def default_of(args: ast.arguments, name: str) -> ast.expr | None:
    """A parameter's default."""
    positional = [arg.arg for arg in (*args.posonlyargs, *args.args)]
    pairs = dict(zip(reversed(positional), reversed(args.defaults), strict=False))
    keyed = {arg.arg: value for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value is not None}
    return pairs.get(name) or keyed.get(name)


def callback_iterable(layout: Layout, function: Function | ast.Lambda, position: int) -> ast.expr | None:
    """The iterable whose elements a function gets that is passed to `sorted(key=…)`, `max`, `map`, `filter`, …"""
    uses: list[ast.AST] = [function]
    if not isinstance(function, ast.Lambda):
        uses = [n for n in ast.walk(layout.tree) if isinstance(n, ast.Name) and n.id == function.name]
    for use in uses:
        parent = layout.parents.get(id(use))
        if isinstance(parent, ast.keyword):
            parent = layout.parents.get(id(parent))
        if not isinstance(parent, ast.Call) or parent.func is use:
            continue
        others = [arg for arg in parent.args if arg is not use]
        if use in parent.args and others:
            return others[position] if position < len(others) else others[0]
        if others:  # key=…: the iterable is the last positional argument (nlargest takes n before it)
            return others[-1]
        if isinstance(parent.func, ast.Attribute):  # rows.sort(key=…)
            return parent.func.value
    return None
