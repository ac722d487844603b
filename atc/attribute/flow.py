"""How values pass through displays, comprehensions, and calls that are no tools (methods, builtins, a few modules)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from atc.attribute.definitions import constant_step
from atc.attribute.layout import Comprehension
from atc.attribute.paths import EACH, KEY, Path, meets
from atc.attribute.picking import one_of, ordered, with_pick
from atc.attribute.source import Context, Source
from atc.attribute.syntax import called_name, returned, simple_name

if TYPE_CHECKING:
    from atc.attribute.slice import Slicer

_SAME = frozenset(
    ["list", "tuple", "set", "frozenset", "dict", "iter", "copy", "deepcopy", "loads", "run", "aiter", "cast", "deque"]
)
_REORDERED = frozenset({"sorted", "reversed", "nlargest", "nsmallest", "sample"})
_ONE_OF = frozenset({"max", "min", "next", "anext", "choice"})
_SELECTED = frozenset({"filter", "filterfalse", "takewhile", "dropwhile", "islice"})
_MODULES = frozenset(
    {"asyncio", "json", "math", "re", "statistics", "itertools", "functools", "collections", "copy"}
) | {
    "random",
    "heapq",
    "datetime",
    "time",
    "operator",
}


def through_call(slicer: Slicer, call: ast.Call, path: Path, context: Context) -> list[Source]:
    """Sources of the value at `path` of what a call of a builtin, method or library function gives."""
    match call.func:
        case ast.Attribute(value=ast.Name(id=module), attr=name) if module in _MODULES:
            return _function(slicer, name, call, path, context)
        case ast.Attribute(attr=name):
            return _method(slicer, name, call, path, context)
    return _function(slicer, simple_name(call), call, path, context)


def _function(slicer: Slicer, name: str, call: ast.Call, path: Path, context: Context) -> list[Source]:
    args = [arg.value if isinstance(arg, ast.Starred) else arg for arg in call.args]
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    if name == "dict" and path and path[0] in named:
        return slicer.sources(named[str(path[0])], path[1:], context)
    if name == "gather":
        return _gathered(slicer, call, path, context)
    if not args:
        return slicer.derived(named.values(), context)
    if name in _SAME:
        return slicer.sources(args[0], path, context)
    if name in _REORDERED:
        found = slicer.sources(args[0] if name in ("sorted", "reversed", "sample") else args[1], _loose(path), context)
        return [with_pick(source, ordered(call, path)) for source in found]
    if name in _ONE_OF and (len(args) == 1 or name == "next"):
        default = [source for arg in args[1:] for source in slicer.sources(arg, path, context)]
        found = slicer.sources(args[0], (EACH, *path), context)
        return [*default, *(with_pick(source, one_of(call, len(path))) for source in found)]
    if name in ("max", "min"):
        return [source for arg in args for source in slicer.sources(arg, path, context)]
    if name in _SELECTED:
        tests = [args[0].body] if isinstance(args[0], ast.Lambda) and not path else []
        found = slicer.sources(args[0 if name == "islice" else -1], _loose(path), context)
        return [source.derived(tests) for source in found] if tests else found
    if name in ("enumerate", "zip", "zip_longest", "chain", "from_iterable", "map"):
        return _combined(slicer, name, call, path, context)
    summed = [s.derived() for s in slicer.sources(args[0], (EACH,), context)] if name == "sum" else []
    return summed + slicer.derived([*args, *named.values()], context)


def _combined(slicer: Slicer, name: str, call: ast.Call, path: Path, context: Context) -> list[Source]:
    """`enumerate`, `zip`, `chain` and `map`: an element of theirs is or holds elements of what they are given."""
    args = [arg.value if isinstance(arg, ast.Starred) else arg for arg in call.args]
    if name == "map":
        return _mapped(slicer, args, path, context)
    if name in ("chain", "from_iterable"):
        spread = name == "from_iterable" or any(isinstance(arg, ast.Starred) for arg in call.args)
        inner: Path = (EACH, *_loose(path)) if spread else _loose(path)
        return [source for arg in args for source in slicer.sources(arg, inner, context)]
    if name == "enumerate":
        return slicer.sources(args[0], (EACH, *path[2:]) if len(path) > 1 and path[1] == 1 else (), context)
    if len(path) < 2 or not isinstance(path[1], int):
        return slicer.derived(args, context)
    return slicer.sources(args[path[1]], (EACH, *path[2:]), context) if path[1] < len(args) else []


def _method(slicer: Slicer, name: str, call: ast.Call, path: Path, context: Context) -> list[Source]:
    assert isinstance(call.func, ast.Attribute)
    receiver, args = call.func.value, call.args
    match name:
        case "get" | "setdefault" if args:
            default = slicer.sources(args[1], path, context) if len(args) > 1 else []
            return [*default, *slicer.sources(receiver, (constant_step(args[0]), *path), context)]
        case "pop" if args:
            return slicer.sources(receiver, (constant_step(args[0]), *path), context)
        case "pop" | "popleft":
            return slicer.sources(receiver, (-1 if name == "pop" else 0, *path), context)
        case "items" | "most_common":
            if len(path) < 2:
                return slicer.sources(receiver, path, context)
            return slicer.sources(receiver, (KEY,) if path[1] == 0 else (EACH, *path[2:]), context)
        case "values":
            return slicer.sources(receiver, _loose(path), context)
        case "copy" | "result" | "elements":
            return slicer.sources(receiver, path, context)
        case "keys":
            return slicer.sources(receiver, (KEY, *path[1:]) if path else (), context)
        case "map" if args:
            return _mapped(slicer, args, path, context)
        case "join" if args:
            return [source.derived() for source in slicer.sources(args[0], (EACH,), context)]
    return slicer.derived([receiver, *args, *(keyword.value for keyword in call.keywords)], context)


def _loose(path: Path) -> Path:
    """The path with a leading index forgotten, since the order changed."""
    return (EACH, *path[1:]) if path and isinstance(path[0], int) else path


def _gathered(slicer: Slicer, call: ast.Call, path: Path, context: Context) -> list[Source]:
    found: list[Source] = []
    for i, arg in enumerate(call.args):
        if isinstance(arg, ast.Starred):
            found += slicer.sources(arg.value, _loose(path), context)
        elif not path or not isinstance(path[0], int) or path[0] == i:
            found += slicer.sources(arg, path[1:], context)
    return found


def _mapped(slicer: Slicer, args: list[ast.expr], path: Path, context: Context) -> list[Source]:
    """`map(f, xs)`: what `f` gives; for a builtin such as `str`, values computed from the elements."""
    function, iterable = args[0], args[-1]
    if not path:
        return slicer.sources(iterable, (), context)
    if isinstance(function, ast.Lambda):
        return slicer.sources(function.body, path[1:], context)
    if isinstance(function, ast.Name) and (own := slicer.layout.functions.get(function.id)) is not None:
        return [source for value in returned(own) for source in slicer.sources(value, path[1:], context)]
    return [source.derived() for source in slicer.sources(iterable, (EACH,), context)]


def through_display(slicer: Slicer, expr: ast.expr, path: Path, context: Context) -> list[Source]:
    """Through a list, tuple, set or dict that the program writes out."""
    found = [Source("made", expr, path=path)]
    match expr:
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if key is None:
                    found += slicer.sources(value, path, context)
                elif not path:
                    found += slicer.derived([value], context)
                elif path[0] is KEY:
                    found += slicer.sources(key, path[1:], context)
                elif meets(constant_step(key), path[0]):
                    found += slicer.sources(value, path[1:], context)
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            counted = path and isinstance(path[0], int) and not any(isinstance(p, ast.Starred) for p in parts)
            for i, part in enumerate(parts):
                if isinstance(part, ast.Starred):
                    found += slicer.sources(part.value, path, context)
                elif not path:
                    found += slicer.derived([part], context)
                elif not counted or path[0] in (i, i - len(parts)):
                    found += slicer.sources(part, path[1:], context)
    return found


def through_comprehension(slicer: Slicer, expr: Comprehension, path: Path, context: Context) -> list[Source]:
    """Through a comprehension: its element; for the whole, what it loops over and the tests that items passed."""
    if path and isinstance(expr, ast.DictComp):
        inner = expr.key if path[0] is KEY else expr.value
        return [Source("made", expr, path=path), *slicer.sources(inner, path[1:], context)]
    if path and not isinstance(expr, ast.DictComp):
        return slicer.sources(expr.elt, path[1:], context)
    tests = [test for generator in expr.generators for test in generator.ifs]
    found = [Source("made", expr)]
    for generator in expr.generators:
        found += [source.derived(tests) for source in slicer.sources(generator.iter, (), context)]
    return found


def through_constant(slicer: Slicer, constant: ast.Constant, path: Path) -> list[Source]:
    """A constant of the program; one in an `except` stands for the results of the calls in its `try`."""
    child: ast.AST = constant
    for around in slicer.layout.ancestors(constant):
        if isinstance(around, ast.Try) and child in around.handlers:
            nodes = [n for stmt in around.body for n in ast.walk(stmt) if isinstance(n, ast.Call)]
            swallowed = [Source("swallowed", n, called_name(n)) for n in nodes if called_name(n) in slicer.tools]
            return swallowed or [Source("literal", constant, path=path)]
        if isinstance(around, ast.FunctionDef | ast.AsyncFunctionDef):
            break
        child = around
    return [Source("literal", constant, path=path)]
