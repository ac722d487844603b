"""Narrowing of types: what a condition implies about variables.

After `if x is not None`, for example, `x` is not None in the body of the `if`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from atc.pipeline.check import types as t
from atc.pipeline.check.budget import spend
from atc.pipeline.check.interpreter import Env, Interpreter
from atc.pipeline.check.kinds import assume_not_none, keep_matching, null_origins
from atc.pipeline.check.schema import field_type, fixed_value, items_of, silence_nulls
from atc.pipeline.check.syntax import (
    FunctionNode,
    once_per_check,
    parameters,
    times_stored,
    walk_nodes,
)

_KINDS: dict[str, Callable[[t.Type], bool]] = {
    **dict.fromkeys(["dict", "Mapping"], lambda kind: isinstance(kind, t.Record | t.Mapped)),
    "list": lambda kind: (
        isinstance(kind, t.Array) or (isinstance(kind, t.Listing) and kind.kind == "list")
    ),
    "tuple": lambda kind: (
        isinstance(kind, t.Tuple) or (isinstance(kind, t.Listing) and kind.kind == "tuple")
    ),
    "set": lambda kind: isinstance(kind, t.Listing) and kind.kind == "set",
    "str": lambda kind: isinstance(kind, t.Atom) and kind.name == "str",
    "int": lambda kind: isinstance(kind, t.Atom) and kind.name in ("int", "bool", "number"),
    "float": lambda kind: isinstance(kind, t.Atom) and kind.name in ("float", "number"),
    "bool": lambda kind: isinstance(kind, t.Atom) and kind.name == "bool",
    "NoneType": lambda kind: isinstance(kind, t.Null),
}
"""For each class name, a function that is True for types that may be an instance of the class."""
_KNOWN = (t.Record, t.Mapped, t.Array, t.Listing, t.Tuple, t.Atom, t.Null)
"""Types of which `isinstance` is known."""
_OPPOSITE: dict[type[ast.cmpop], ast.cmpop] = {
    ast.NotEq: ast.Eq(),
    ast.NotIn: ast.In(),
    ast.IsNot: ast.Is(),
}


def outcomes(core: Interpreter, test: ast.expr) -> tuple[Env | None, Env | None]:
    """Return what is known about variables if `test` is true, and what is known if it is false.

    The current environment is not changed. None in place of an environment means that the case
    cannot occur.
    """
    start = core.frame.env
    if start is None:
        return None, None
    results: list[Env | None] = []
    for truth in (True, False):
        core.frame.env = start.copy()
        refine(core, test, truth)
        results.append(core.frame.env)
    core.frame.env = start
    if isinstance(test, ast.Constant):
        return (results[0], None) if test.value else (None, results[1])
    return results[0], results[1]


def refine(core: Interpreter, test: ast.expr, truth: bool) -> None:
    """Narrow the types of variables, given that the condition `test` has the outcome `truth`.

    The current environment is updated.
    """
    if core.frame.env is None:
        return
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            refine(core, inner, not truth)
        case ast.BoolOp(op=op, values=values):
            # `a or b` being true does not tell which operand is true, so nothing is certain.
            for value in values if isinstance(op, ast.And) == truth else ():
                refine(core, value, truth)
        case ast.NamedExpr(target=target, value=value):
            refine(core, value, truth)
            refine(core, target, truth)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            _refine_compare(core, *_constant_last(left, op, right), truth)
        case ast.Compare(left=left, comparators=rights) if truth:
            for part in [left, *rights]:
                _change(core, part, assume_not_none)
        case ast.Call(func=ast.Name(id="isinstance"), args=[subject, kinds]):
            _refine_kind(core, subject, _kind_names(kinds), truth)
        case ast.Call(func=ast.Name(id="hasattr" | "callable" | "issubclass"), args=[subject, *_]):
            _change(core, subject, lambda _: t.ANY)
        case _:
            if truth:
                _change(core, test, assume_not_none)
            _refine_outcome(core, test, lambda value: bool(value) == truth)
    _relax(core, test)


def _constant_last(
    left: ast.expr, op: ast.cmpop, right: ast.expr
) -> tuple[ast.expr, ast.cmpop, ast.expr]:
    """Return the parts of a comparison in an order with the constant, if any, on the right.

    Except for `in`, the order does not matter for what a comparison implies about None.
    """
    if isinstance(left, ast.Constant) and not isinstance(op, ast.In | ast.NotIn):
        return right, op, left
    return left, op, right


def _refine_compare(
    core: Interpreter, left: ast.expr, op: ast.cmpop, right: ast.expr, truth: bool
) -> None:
    """Narrow the types of variables, given that a comparison has the outcome `truth`.

    The comparison is `left op right`. The current environment is updated.
    """
    if isinstance(op, ast.NotEq | ast.NotIn | ast.IsNot):
        op = _OPPOSITE[type(op)]
        truth = not truth
    if isinstance(op, ast.Is | ast.Eq) and isinstance(right, ast.Constant):
        wanted = right.value
        _refine_outcome(core, left, lambda value: (value == wanted) == truth)
    match op, left, right:
        case ast.Is() | ast.Eq(), _, ast.Constant(value=None):
            core.tested |= {place.tool for place in null_origins(core.peek(left))}
            # A program that tested that the value is None uses it on purpose: report nothing.
            _change(core, left, (lambda _: t.ANY) if truth else assume_not_none)
        case (
            ast.Is() | ast.Eq(),
            ast.Call(func=ast.Name(id="type"), args=[subject]),
            ast.Name(id="dict" | "list" | "str" as name),
        ):
            _refine_kind(core, subject, [name], truth)
        case ast.Is() | ast.Eq(), ast.Call(func=ast.Name(id="type"), args=[subject]), _:
            _change(core, subject, lambda _: t.ANY)
        case ast.In(), _, _:
            _refine_membership(core, left, right, truth)
        case _ if truth or not isinstance(op, ast.Eq | ast.Is):
            _change(core, left, assume_not_none)
            _change(core, right, assume_not_none)


def _refine_membership(core: Interpreter, left: ast.expr, right: ast.expr, truth: bool) -> None:
    """Narrow the types of variables, given that `left in right` has the outcome `truth`."""
    if isinstance(left, ast.Constant) and left.value is None:
        if not truth:  # `None not in items`
            core.env.null_checked |= null_origins(items_of(core.peek(right)))
    elif truth and _cannot_have(core, left, right):
        core.frame.env = None
    elif truth:
        for key in _constant_keys(core, left):
            _change(core, right, partial(_assume_key, key=key))
        _change(core, left, assume_not_none)


def _cannot_have(core: Interpreter, key_node: ast.expr, subject: ast.expr) -> bool:
    """Return True if a parameter is an object that cannot have a key; see `_is_parameter`."""
    if not _is_parameter(core, subject):
        return False
    keys = _constant_keys(core, key_node)
    value = core.peek(subject)
    return (
        isinstance(value, t.Record) and bool(keys) and not any(field_type(value, k) for k in keys)
    )


def _is_parameter(core: Interpreter, node: ast.expr) -> bool:
    """Return True if an expression is a parameter of the function that is being analysed.

    A function may test its parameter because it gets several kinds of values. Each call of the
    function is analysed separately, so a test that its argument fails is simply False in this call.
    Outside of functions, a test that can never be true is a sign that the inferred type is wrong.
    """
    scope = core.frame.scope
    if not isinstance(scope, FunctionNode) or not isinstance(node, ast.Name):
        return False
    return node.id in parameters(scope)


def _constant_keys(core: Interpreter, node: ast.expr) -> list[str]:
    """Return the strings that an expression may have as its value, as far as they are known."""
    known = core.peek(node)
    return [
        v
        for m in t.members(known)
        if isinstance(m, t.Atom)
        for v in m.values or ()
        if isinstance(v, str)
    ]


def _assume_key(value: t.Type, key: str) -> t.Type:
    """Return the type `value`, given that the test `key in value` was true.

    A type that cannot have the key becomes `ANY`, because it must have been inferred wrongly.
    """
    known = [field_type(m, key) for m in t.members(value) if isinstance(m, t.Record | t.Mapped)]
    return t.ANY if None in known else value


def _kind_names(node: ast.expr) -> list[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return [name]
        case ast.Tuple(elts=parts):
            return [name for part in parts for name in _kind_names(part)]
        case _:
            return ["?"]


def _refine_kind(core: Interpreter, subject: ast.expr, names: list[str], truth: bool) -> None:
    """Narrow the type of `subject`, given that `isinstance(subject, names)` returned `truth`."""
    if any(name not in _KINDS for name in names):
        _change(core, subject, lambda _: t.ANY)
        return

    def is_possible(value: t.Type) -> bool:
        if (
            not truth
            and isinstance(value, t.Atom)
            and value.name == "number"
            and not {"int", "float"} <= set(names)
        ):
            return True
        return any(_KINDS[name](value) for name in names) == truth

    kinds = t.members(core.peek(subject))
    is_known = all(isinstance(kind, _KNOWN) for kind in kinds)
    if is_known and _is_parameter(core, subject) and not any(map(is_possible, kinds)):
        core.frame.env = None
        return
    _change(core, subject, lambda value: keep_matching(value, is_possible))


def _change(core: Interpreter, node: ast.expr, update: Callable[[t.Type], t.Type]) -> None:
    """Replace the type that the check has inferred for an expression such as `f["a"].get("b")`.

    `update` is a function from the old type to the new one. Nothing is replaced unless the
    expression is a variable, or reads it with constant keys.
    """
    env = core.frame.env
    path = access_path(node)
    if env is None or (path is None and not isinstance(node, ast.Subscript)):
        return
    old = core.peek(node)
    new = update(old)
    env.null_checked |= null_origins(old) - null_origins(new)
    if path is not None and new != old:
        name, keys = path
        base = core.peek(ast.Name(name, ast.Load()))
        # Code that the check does not follow may replace a None in a dict.
        if not keys or new != t.NONE:
            env.names[name] = _replace_nested(base, keys, new)


def _refine_outcome(core: Interpreter, node: ast.expr, fits: Callable[[Any], bool]) -> None:
    """Narrow the type of a response, given that the value at one of its keys passes a test.

    `node` is the expression that reads the key, and `fits` is the test. The schema of a successful
    response may allow only one value for the key, such as `ok: true`. If this value fails the test,
    the response is not a successful one, and gets the type of the documented error.
    """
    match node:
        case (
            ast.Subscript(value=owner, slice=ast.Constant(value=str(key)))
            | ast.Call(
                func=ast.Attribute(attr="get", value=owner), args=[ast.Constant(value=str(key)), *_]
            )
        ):
            pass
        case ast.Name(id=name) if (read := _sole_value(core, name)) is not None:
            _refine_outcome(core, read, fits)
            return
        case _:
            return

    def narrow(value: t.Type) -> t.Type:
        wrong = [
            member
            for member in t.members(value)
            if isinstance(member, t.Record) and not all(map(fits, fixed_value(member, key)))
        ]
        fitting = [member for member in t.members(value) if member not in wrong]
        if not wrong or fitting:
            return t.join(*fitting)
        return t.join_all(core.error_result(member.origin, key) for member in wrong)

    _change(core, owner, narrow)


def _sole_value(core: Interpreter, name: str) -> ast.expr | None:
    """Return the value of a variable that the program assigns once, such as `ok = reply["ok"]`.

    Return None unless the value is read from another variable that is assigned once.
    """
    stored = times_stored(core.module)
    found = [
        node.value
        for node in (walk_nodes(core.module) if stored[name] == 1 else ())
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == name
    ]
    path = access_path(found[0]) if found else None
    return found[0] if path is not None and path[1] and stored[path[0]] == 1 else None


def _replace_nested(base: t.Type, keys: tuple[str, ...], new: t.Type) -> t.Type:
    """Return the type of a dict in which the type of a nested value is replaced by `new`.

    `base` is the type of the dict, and `keys` lead to the nested value.
    """
    if not keys:
        return new
    result: list[t.Type] = []
    for member in t.members(base):
        if isinstance(member, t.Record | t.Mapped):
            inner = _replace_nested(
                (field_type(member, keys[0]) if len(keys) > 1 else None) or t.ANY, keys[1:], new
            )
            spend(len(member.refined))
            kept = tuple(pair for pair in member.refined if pair[0] != keys[0])
            member = replace(member, refined=(*kept, (keys[0], inner)))
        result.append(member)
    return t.join(*result)


def access_path(node: ast.expr) -> tuple[str, tuple[str, ...]] | None:
    """Return the variable and the constant keys of an expression that reads a nested value.

    For `f["a"].get("b")` the result is `("f", ("a", "b"))`. Return None for any other expression.
    """
    keys: list[str] = []
    while not isinstance(node, ast.Name):
        match node:
            case ast.Subscript(value=inner, slice=ast.Constant(value=str(key))):
                keys.append(key)
            case ast.Call(
                func=ast.Attribute(attr="get", value=inner), args=[ast.Constant(value=str(key)), *_]
            ):
                keys.append(key)
            case ast.NamedExpr(target=inner):
                pass
            case _:
                return None
        node = inner
    return node.id, tuple(reversed(keys))


_PLAIN = frozenset(
    "len sum str int float round abs min max sorted isinstance type set any".split()  # noqa: SIM905
)
"""Functions whose result does not depend on whether fields inside their arguments are null."""
_MENTIONED = f"{__name__}.mentioned"


def _relax(core: Interpreter, test: ast.expr) -> None:
    """Mark the nullable fields inside every variable that a condition mentions as tested for None.

    The condition may exclude None in a way that the check does not understand. Uses of these fields
    are then not reported.
    """
    for name in once_per_check(test, _MENTIONED, _find_mentioned_names):
        known = core.env.names.get(name)
        if known is not None:
            core.env.names[name] = silence_nulls(known)


def _find_mentioned_names(test: ast.AST) -> set[str]:
    """Return the variables whose contents a condition examines.

    The condition compares or tests a field of the variable, or passes the variable to a function.
    """
    found: set[str] = set()
    for node in walk_nodes(test):
        match node:
            case ast.Call(func=func) if not isinstance(func, ast.Name) or func.id not in _PLAIN:
                found |= {part.id for part in walk_nodes(node) if isinstance(part, ast.Name)}
            case ast.Compare(
                left=left,
                ops=[ast.Eq() | ast.NotEq() | ast.Is() | ast.IsNot() | ast.In() | ast.NotIn()],
            ):
                path = access_path(left)
                found |= {path[0]} if path is not None and path[1] else set()
            case ast.Subscript() if node is test:
                path = access_path(node)
                found |= {path[0]} if path is not None else set()
    return found
