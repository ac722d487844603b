"""What a test shows about the values in it, for the code that runs only if it holds or fails."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import reduce

from atc.check.known.core import Core
from atc.check.known.fields import field_type
from atc.check.known.frames import Env, join_env
from atc.check.known.kinds import ANY, NONE, Array, Atom, Listing, Mapped, Null, Record, Tuple, Type
from atc.check.known.lattice import join, keep, members, proven
from atc.check.known.objects import Made
from atc.check.known.paths import change
from atc.check.narrowing.relax import relax
from atc.check.narrowing.turns import narrow_constants
from atc.check.operations.iteration import iterate_items

_FAILURES = ("Exception", "ToolError")
KINDS: dict[str, Callable[[Type], bool]] = {
    "dict": lambda t: isinstance(t, Record | Mapped),
    "Mapping": lambda t: isinstance(t, Record | Mapped),
    "list": lambda t: isinstance(t, Array) or (isinstance(t, Listing) and t.kind == "list"),
    "tuple": lambda t: isinstance(t, Tuple) or (isinstance(t, Listing) and t.kind == "tuple"),
    "set": lambda t: isinstance(t, Listing) and t.kind == "set",
    "str": lambda t: isinstance(t, Atom) and t.name == "str",
    "int": lambda t: isinstance(t, Atom) and t.name in ("int", "bool", "number"),
    "float": lambda t: isinstance(t, Atom) and t.name in ("float", "number"),
    "bool": lambda t: isinstance(t, Atom) and t.name == "bool",
    "NoneType": lambda t: isinstance(t, Null),
    **dict.fromkeys(("BaseException", "Exception"), lambda t: isinstance(t, Made) and t.name in _FAILURES),
    "ToolError": lambda t: isinstance(t, Made) and t.name in _FAILURES,
}
"""By the name of a class: whether an alternative may be of it."""


def refine(core: Core, test: ast.expr, truth: bool) -> None:
    """Change the current environment by what it shows that `test` came out `truth`."""
    if core.frame.env is None:
        return
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            refine(core, inner, not truth)
        case ast.BoolOp(op=op, values=values):
            if isinstance(op, ast.And) == truth:
                for value in values:
                    refine(core, value, truth)
            else:
                _refine_either(core, values, truth)
        case ast.NamedExpr(target=target, value=value):
            refine(core, value, truth)
            _refine_truth(core, target, truth)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            _refine_compare(core, left, op, right, truth)
        case ast.Compare(left=left, comparators=rights):
            for part in [left, *rights]:
                if truth:
                    change(core, part, proven)
        case ast.Call(func=ast.Name(id="isinstance"), args=[subject, kinds]):
            _refine_kind(core, subject, _kind_names(kinds), truth)
        case _:
            _refine_truth(core, test, truth)
    narrow_constants(core, test, truth=truth)
    relax(core, test)


def _refine_either(core: Core, values: list[ast.expr], truth: bool) -> None:
    """One of several holds: join what is known when the first does, when only the second does, and so on."""
    start, result = core.frame.env, None
    for value in values:
        if start is None:
            break
        core.frame.env = start.copy()
        refine(core, value, truth)
        result = join_env(result, core.frame.env)
        core.frame.env = start
        refine(core, value, not truth)
        start = core.frame.env
    core.frame.env = result


def _refine_truth(core: Core, node: ast.expr, truth: bool) -> None:
    if truth:
        change(core, node, proven)


def _refine_compare(core: Core, left: ast.expr, op: ast.cmpop, right: ast.expr, truth: bool) -> None:
    if isinstance(left, ast.Constant) and not isinstance(op, ast.In | ast.NotIn):
        left, right = right, left
    subject = _type_call(left)
    if isinstance(op, ast.NotEq | ast.NotIn | ast.IsNot):
        op, truth = _OPPOSITE[type(op)], not truth
    match op:
        case ast.Is() | ast.Eq() if isinstance(right, ast.Constant) and right.value is None:
            change(core, left, _only_none if truth else proven)
        case ast.Is() | ast.Eq() if subject is not None:
            _refine_kind(core, subject, _kind_names(right), truth)
        case ast.In() if isinstance(left, ast.Constant) and left.value is None:
            if not truth:
                _calm_items(core, right)
        case ast.In() if truth and (keys := _constant_keys(core, left)):
            change(core, right, lambda value: reduce(_having, keys, value))
            change(core, left, proven)
        case _ if truth or not isinstance(op, ast.Eq | ast.In | ast.Is):
            change(core, left, proven)
            change(core, right, proven)


def _calm_items(core: Core, node: ast.expr) -> None:
    """`None not in items`."""
    with core.silence():
        found = members(iterate_items(core, core.evaluate(node)))
    core.env.calm |= {item.origin for item in found if isinstance(item, Null) and item.origin is not None}


_OPPOSITE: dict[type[ast.cmpop], ast.cmpop] = {ast.NotEq: ast.Eq(), ast.NotIn: ast.In(), ast.IsNot: ast.Is()}


def _constant_keys(core: Core, node: ast.expr) -> list[str]:
    """The strings that an expression can be, where they are known."""
    with core.silence():
        known = core.evaluate(node)
    atoms = [member for member in members(known) if isinstance(member, Atom)]
    return [value for atom in atoms for value in atom.values or () if isinstance(value, str)]


def _type_call(node: ast.expr) -> ast.expr | None:
    """`x` in `type(x)`."""
    match node:
        case ast.Call(func=ast.Name(id="type"), args=[subject]):
            return subject
        case _:
            return None


def _only_none(value: Type) -> Type:
    found = [member for member in members(value) if isinstance(member, Null)]
    # The program has seen that it is None: what it does with it now is meant.
    return NONE if found else value


def _having(value: Type, key: str) -> Type:
    """`value` after `key in value`: one that cannot have the key is another thing than we believe."""
    result: list[Type] = []
    for member in members(value):
        match member:
            case Record():
                result.append(member if field_type(member, key) is not None else member.refine(key, ANY))
            case Mapped(cell, refined):
                result.append(member if key in cell.keys else Mapped(cell, (*refined, (key, ANY))))
            case _:
                result.append(member)
    return join(*result)


def _kind_names(node: ast.expr) -> list[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return [name]
        case ast.Tuple(elts=parts):
            return [name for part in parts for name in _kind_names(part)]
        case ast.BinOp(left=left, right=right):
            return [*_kind_names(left), *_kind_names(right)]
        case ast.Constant(value=None):
            return ["NoneType"]
        case _:
            return ["?"]


def _refine_kind(core: Core, subject: ast.expr, names: list[str], truth: bool) -> None:
    if any(name not in KINDS for name in names):
        change(core, subject, lambda _: ANY)
        return
    checks = [KINDS[name] for name in names]

    def is_kind(value: Type) -> bool:
        return any(check(value) for check in checks)

    def surely(value: Type) -> bool:
        if isinstance(value, Atom) and value.name == "number":
            return {"int", "float"} <= set(names)
        return is_kind(value)

    change(core, subject, lambda value: keep(value, is_kind if truth else lambda member: not surely(member)))


def apart(core: Core, test: ast.expr) -> tuple[Env | None, Env | None]:
    """The environments in which `test` holds and fails; the current one is left as it was."""
    start = core.frame.env
    if start is None:
        return None, None
    results: list[Env | None] = []
    for truth in (True, False):
        core.frame.env = start.copy()
        refine(core, test, truth)
        results.append(core.frame.env)
    core.frame.env = start
    match test:
        case ast.Constant(value=value):
            return (results[0], None) if value else (None, results[1])
        case _:
            return results[0], results[1]
