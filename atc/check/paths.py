"""Variables and the constant paths of keys below them, whose types tests change."""

from __future__ import annotations

import ast
from collections.abc import Callable

from atc.check.core import Core
from atc.check.fields import field_type
from atc.check.kinds import ANY, NONE, Mapped, Null, Record, Type
from atc.check.lattice import join, members


def change(core: Core, node: ast.expr, update: Callable[[Type], Type]) -> None:
    """Apply `update` to what is known of the variable, or of the constant path of keys below one, that `node` names."""
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
    if path is not None and new != old and not (path[1] and new == NONE):
        # What stands under a key may change where we do not see it, so None is never taken to last there.
        name, keys = path
        with core.silence():
            base = core.evaluate(ast.Name(name, ast.Load()))
        env.names[name] = _rebuilt(base, keys, new)


def _rebuilt(base: Type, keys: tuple[str, ...], new: Type) -> Type:
    """`base` with what stands under the path of keys replaced."""
    if not keys:
        return new
    result: list[Type] = []
    for member in members(base):
        match member:
            case Record():
                inner = field_type(member, keys[0]) if len(keys) > 1 else ANY
                result.append(member.refine(keys[0], _rebuilt(inner or ANY, keys[1:], new)))
            case Mapped(cell, refined):
                inner = cell.keys.get(keys[0], ANY)
                kept = tuple(pair for pair in refined if pair[0] != keys[0])
                result.append(Mapped(cell, (*kept, (keys[0], _rebuilt(inner, keys[1:], new)))))
            case _:
                result.append(member)
    return join(*result)


def access_path(node: ast.expr) -> tuple[str, tuple[str, ...]] | None:
    """`f["a"].get("b")` → `("f", ("a", "b"))`; None for anything else."""
    keys: list[str] = []
    while not isinstance(node, ast.Name):
        match node:
            case ast.Subscript(value=inner, slice=ast.Constant(value=str(key))):
                pass
            case ast.Call(func=ast.Attribute(attr="get", value=inner), args=[ast.Constant(value=str(key)), *_]):
                pass
            case ast.NamedExpr(target=target):
                inner, key = target, ""
            case _:
                return None
        if key:
            keys.append(key)
        node = inner
    return node.id, tuple(reversed(keys))
