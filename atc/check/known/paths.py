"""Variables and the constant paths of keys below them, whose types tests change."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from atc.check.known.core import Core
from atc.check.known.fields import field_type
from atc.check.known.kinds import ANY, NONE, Mapped, Null, Record, Type
from atc.check.known.lattice import join, members
from atc.check.known.objects import Instance


def change(core: Core, node: ast.expr, update: Callable[[Type], Type]) -> None:
    """Apply `update` to what is known of the variable, or of the constant path below one, that `node` names."""
    env = core.frame.env
    path = access_path(node)
    if env is None:
        return
    with core.silence():
        old = core.evaluate(node) if path is not None or isinstance(node, ast.Subscript) else ANY
    new = update(old)
    lost = {m.origin for m in members(old) if isinstance(m, Null) and m.origin} - {
        m.origin for m in members(new) if isinstance(m, Null)
    }
    env.calm |= {origin for origin in lost if origin is not None}
    if path is not None and new != old:
        name, keys = path
        with core.silence():
            base = core.evaluate(ast.Name(name, ast.Load()))
        if keys and new == NONE:
            # In a dict of the program None may change where we do not see it.
            if not all(isinstance(member, Record) for member in members(base)):
                return
            new = Null(shown=True)
        env.names[name] = _rebuilt(core, base, keys, new)


def release(core: Core, call: ast.Call) -> None:
    """A call may change what it is given: what tests have shown to be None there is so no longer."""
    names = {part.id for part in (*call.args, *(k.value for k in call.keywords)) if isinstance(part, ast.Name)}
    match call.func:
        case ast.Attribute(value=ast.Name(id=owner), attr=attr) if attr not in ("get", "keys", "items", "values"):
            names.add(owner)
    for name in names & core.env.names.keys():
        value = core.env.names[name]
        if isinstance(value, Record) and any(_shown(known) for _, known in value.refined):
            kept = tuple(pair for pair in value.refined if not _shown(pair[1]))
            core.env.names[name] = replace(value, refined=kept)


def _shown(value: Type) -> bool:
    return isinstance(value, Null) and value.shown


def _rebuilt(core: Core, base: Type, keys: tuple[str, ...], new: Type) -> Type:
    """`base` with what stands under the path of keys replaced."""
    if not keys:
        return new
    result: list[Type] = []
    for member in members(base):
        match member:
            case Instance(refined=refined) if keys[0].startswith("."):
                name = keys[0][1:]
                if name in core.hints.attributes:
                    result.append(member)
                    continue
                own = dict(refined)
                before = own.get(name, member.shape.attributes.get(name, ANY))
                own[name] = _rebuilt(core, before, keys[1:], new)
                result.append(Instance(member.shape, tuple(own.items())))
            case Record() if not keys[0].startswith("."):
                inner = field_type(member, keys[0]) if len(keys) > 1 else ANY
                result.append(member.refine(keys[0], _rebuilt(core, inner or ANY, keys[1:], new)))
            case Mapped(cell, refined, stored) if not keys[0].startswith("."):
                inner = cell.keys.get(keys[0], ANY)
                kept = tuple(pair for pair in refined if pair[0] != keys[0])
                result.append(Mapped(cell, (*kept, (keys[0], _rebuilt(core, inner, keys[1:], new))), stored))
            case _:
                result.append(member)
    return join(*result)


def access_path(node: ast.expr) -> tuple[str, tuple[str, ...]] | None:
    """`f["a"].get("b")` → `("f", ("a", "b"))`, `f.a["b"]` → `("f", (".a", "b"))`; None for anything else."""
    keys: list[str] = []
    while not isinstance(node, ast.Name):
        key: str | None = None
        match node:
            case ast.Subscript(value=inner, slice=ast.Constant(value=str(key))):
                pass
            case ast.Call(func=ast.Attribute(attr="get", value=inner), args=[ast.Constant(value=str(key)), *_]):
                pass
            case ast.Attribute(value=inner, attr=attr):
                key = f".{attr}"
            case ast.NamedExpr(target=target):
                inner = target
            case _:
                return None
        if key is not None:
            keys.append(key)
        node = inner
    return node.id, tuple(reversed(keys))
