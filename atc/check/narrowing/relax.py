"""Tests that may rule out nulls in ways that are not followed."""

from __future__ import annotations

import ast
from functools import lru_cache

from atc.check.known.core import Core
from atc.check.known.fields import calmed, field_type
from atc.check.known.frames import Mentions
from atc.check.known.kinds import ANY, Atom, Function, Null, Record, Type
from atc.check.known.lattice import members
from atc.check.known.paths import access_path, change
from atc.check.source.memo import walk

_STATE_WORDS = (
    "status", "state", "phase", "kind", "type", "cancel", "divert", "complete", "active", "has_", "is_", "result",
    "available", "error", "success", "ok", "done", "deleted", "count", "total", "num", "valid",
)  # fmt: skip

_PLAIN = {
    "len", "sum", "str", "int", "float", "round", "abs", "min", "max", "sorted", "isinstance", "type", "repr", "set",
    "list", "range", "enumerate", "zip", "bool",
}  # fmt: skip
"""Functions whose value in a test says nothing about nulls inside their arguments."""


def relax(core: Core, test: ast.expr) -> None:
    """A test may rule out nulls in ways that we do not follow: then say no more about the values that it mentions."""
    mentions = core.mentions.get(test)
    if mentions is None:
        mentions = core.mentions[test] = read_mentions(test)
    for name, keys in mentions.paths:
        owner = core.env.names.get(name)
        if owner is not None and _tells_state(owner, keys):
            core.env.names[name] = calmed(owner)
    for subject in mentions.judged:
        change(core, subject, lambda _: ANY)
    for func, names in mentions.passed:
        _relax_arguments(core, func, names)


def read_mentions(test: ast.expr) -> Mentions:
    """What a test mentions."""
    found = Mentions()
    for node in walk(test):
        path = access_path(node) if isinstance(node, ast.Subscript | ast.Call) else None
        if path is not None and path not in found.paths:
            found.paths.append(path)
        match node:
            case ast.Compare(left=left, comparators=rights) if any(isinstance(p, ast.Compare) for p in (left, *rights)):
                # `(a is None) != (b is None)`: what one is tells of the other.
                found.judged.extend(name for part in (left, *rights) for name in _tested(part))
            case ast.Call(func=ast.Name(id="hasattr" | "callable" | "issubclass"), args=[ast.Name() as subject, *_]):
                found.judged.append(subject)
            case ast.Call(func=func, args=arguments) if not isinstance(func, ast.Name) or func.id not in _PLAIN:
                found.passed.append((func, _names(arguments)))
            case ast.Compare(left=ast.Constant(value=None), comparators=rights):
                found.passed.append((None, _names(rights)))
    return found


def _tested(part: ast.expr) -> list[ast.Name]:
    """The names of which a part of a comparison tests whether they are None."""
    match part:
        case ast.Compare(left=ast.Name() as name, comparators=[ast.Constant(value=None)]):
            return [name]
        case _:
            return []


def _names(arguments: list[ast.expr]) -> list[str]:
    inside = [node for argument in arguments for node in walk(argument)]
    return [node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]


def _relax_arguments(core: Core, func: ast.expr | None, names: list[str]) -> None:
    with core.silence():
        judged = isinstance(func, ast.Name) and _judges_kind(core.evaluate(func))
    for name in names:
        known = core.env.names.get(name)
        if known is not None:
            core.env.names[name] = ANY if judged else calmed(known)


def _judges_kind(function: Type) -> bool:
    return isinstance(function, Function) and any(
        isinstance(node, ast.Name) and node.id in ("isinstance", "type", "hasattr") for node in walk(function.node)
    )


@lru_cache(maxsize=1024)
def _says_state(key: str) -> bool:
    return any(word in key.lower() for word in _STATE_WORDS)


def _tells_state(owner: Type, keys: tuple[str, ...]) -> bool:
    """Whether this field of an object may say that others of its fields are null (`cancelled`, `status`)."""
    current = owner
    for key in keys:
        records = [member for member in members(current) if isinstance(member, Record)]
        if not records:
            return False
        current = field_type(records[0], key) or ANY
    kinds = members(current)
    return _says_state(keys[-1]) or any(
        isinstance(kind, Null) or (isinstance(kind, Atom) and (kind.name == "bool" or kind.values is not None))
        for kind in kinds
    )
