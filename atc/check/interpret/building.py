"""Lists, sets, tuples and dicts written out or as comprehensions."""

from __future__ import annotations

import ast

from atc.check.interpret.selecting import selected
from atc.check.interpret.targets import bind_target
from atc.check.known.constants import begun
from atc.check.known.containers import certain_keys, overlay
from atc.check.known.core import Core
from atc.check.known.frames import Env
from atc.check.known.kinds import ANY, Iterating, Tuple, Type
from atc.check.known.lattice import join
from atc.check.narrowing.narrow import refine
from atc.check.narrowing.turns import all_of, each_item
from atc.check.operations.hashing import check_hashable
from atc.check.operations.iteration import iterate
from atc.check.reading.unpacking import check_each
from atc.check.source.memo import walk


def restore_names(core: Core, before: Env, after: Env | None) -> None:
    """Back to `before`, with names that the expression itself bound (`:=`)."""
    if after is not None:
        for name, value in after.names.items():
            known = before.names.get(name, value)
            before.names[name] = value if known is value else join(known, value)
    core.frame.env = before


def list_display(core: Core, node: ast.List | ast.Set) -> Type:
    """`[…]` and `{…}`."""
    items = [_element(core, part) for part in node.elts]
    if isinstance(node, ast.Set):
        for item, part in zip(items, node.elts, strict=True):
            check_hashable(core, item, part)
    return core.listing(node, all_of(items), "list" if isinstance(node, ast.List) else "set")


def tuple_display(core: Core, node: ast.Tuple) -> Type:
    """`(…)`."""
    items = tuple(_element(core, part) for part in node.elts)
    if any(isinstance(part, ast.Starred) for part in node.elts):
        return core.listing(node, join(*items), "tuple")
    return Tuple(items)


def _element(core: Core, part: ast.expr) -> Type:
    if isinstance(part, ast.Starred):
        return iterate(core, core.evaluate(part.value), part.value)
    return core.evaluate(part)


def dict_display(core: Core, node: ast.Dict) -> Type:
    """`{key: value}`."""
    made = core.mapped(node)
    first: set[str] = set()
    parts: list[tuple[Type | None, Type]] = []
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            spread = core.evaluate(value)
            first |= certain_keys(core, spread)
            parts.append((None, spread))
            continue
        index, item = core.evaluate(key), core.evaluate(value)
        check_hashable(core, index, key)
        parts.append((index, item))
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            first.add(key.value)
    result = overlay(core, made, parts)
    core.begin(made.cell, first)
    return result


def comprehension(core: Core, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Type:
    """Comprehensions and generator expressions."""
    start = core.frame.env
    if start is None:
        return ANY
    core.frame.env = start.copy()
    targets: set[str] = set()
    for generator in node.generators:
        value = core.evaluate(generator.iter)
        item = ANY if generator.is_async else iterate(core, value, generator.iter)
        item = each_item(value, item)
        # `any` and `next` take no more of a generator than they need.
        item = begun(item) if isinstance(node, ast.GeneratorExp) else item
        targets |= {part.id for part in walk(generator.target) if isinstance(part, ast.Name)}
        check_each(core, generator.target, value, generator.iter, [])
        bind_target(core, generator.target, item, generator.iter)
        for test in generator.ifs:
            core.evaluate(test)
            refine(core, test, True)
    with core.condition():
        result = _collected(core, node)
    inner = core.frame.env
    if inner is not None:
        for name in targets:
            inner.names.pop(name, None)
    restore_names(core, start, inner)
    return result


def _collected(core: Core, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Type:
    match node:
        case ast.DictComp():
            made = core.mapped(node)
            key = core.evaluate(node.key)
            check_hashable(core, key, node.key)
            value = core.evaluate(node.value)
            if not selected(core, node, made):
                core.put_any(made.cell, key, value)
            return made
        case ast.GeneratorExp():
            return Iterating(core.evaluate(node.elt), "generator")
        case ast.SetComp():
            item = core.evaluate(node.elt)
            check_hashable(core, item, node.elt)
            return core.listing(node, item, "set")
        case _:
            return core.listing(node, core.evaluate(node.elt))
