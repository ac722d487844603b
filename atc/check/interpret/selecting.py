"""Dict comprehensions of which every key is known: `{k: r[k] for k in ("a", "b")}`, `{k: v for k, v in r.items()}`."""

from __future__ import annotations

import ast

from atc.check.interpret.targets import bind_target
from atc.check.known.containers import MOST_KEYS, certain_keys, constant_texts
from atc.check.known.core import Core
from atc.check.known.kinds import Mapped, Record
from atc.check.known.lattice import literal, members
from atc.check.source.memo import walk
from atc.check.tools.nested import key_type


def selected(core: Core, node: ast.DictComp, made: Mapped) -> bool:
    """Fill the dict where each of its keys is known; False where they are not."""
    match node:
        case ast.DictComp(key=ast.Name(id=key), generators=[ast.comprehension(target=ast.Name(id=same), ifs=[])]):
            return key == same and _of_constants(core, node, made)
        case ast.DictComp(
            key=ast.Name(id=key),
            value=ast.Name(id=value),
            generators=[
                ast.comprehension(
                    target=ast.Tuple(elts=[ast.Name(id=same), ast.Name(id=other)]),
                    iter=ast.Call(func=ast.Attribute(value=owner, attr="items"), args=[]),
                    ifs=tests,
                )
            ],
        ) if (key, value) == (same, other):
            return _of_items(core, owner, key, tests, made)
        case _:
            return False


def _of_constants(core: Core, node: ast.DictComp, made: Mapped) -> bool:
    generator = node.generators[0]
    keys = _named(core, generator.iter)
    sure = set(keys)
    if not keys:
        keys, sure = _keys_of(core, generator.iter)
    if not keys:
        return False
    asks = any(isinstance(part, ast.Attribute) and part.attr in ("get", "pop") for part in walk(node.value))
    for key in keys:
        bind_target(core, generator.target, literal(key), generator.iter)
        if asks:
            with core.silence():
                held = core.evaluate(node.value)
        else:
            held = core.evaluate(node.value)
        core.put(made.cell, key, held)
    core.begin(made.cell, sure)
    return True


def _keys_of(core: Core, node: ast.expr) -> tuple[list[str], set[str]]:
    """The keys of an object of which all are known, and those that it certainly has."""
    with core.silence():
        source = core.evaluate(node)
    if not isinstance(source, Record) or not source.shape.closed or len(source.shape.properties) > MOST_KEYS:
        return [], set()
    return list(source.shape.properties), set(source.shape.required)


def _named(core: Core, node: ast.expr) -> list[str]:
    """The texts that a list, set or tuple holds, where it is written out or a tuple that is known."""
    if isinstance(node, ast.Set | ast.List):
        found = [part.value for part in node.elts if isinstance(part, ast.Constant)]
        texts = [text for text in found if isinstance(text, str)]
        return texts if len(texts) == len(node.elts) <= MOST_KEYS else []
    with core.silence():
        return constant_texts(core.evaluate(node))


def _of_items(core: Core, owner: ast.expr, key: str, tests: list[ast.expr], made: Mapped) -> bool:
    """Items of an object of which all keys are known, chosen by their keys."""
    with core.silence():
        source = core.evaluate(owner)
    if len(members(source)) != 1 or not isinstance(source, Record | Mapped):
        return False
    closed = source.shape.closed if isinstance(source, Record) else not source.cell.open
    known = list(source.shape.properties if isinstance(source, Record) else source.cell.keys)
    if not closed or len(known) > MOST_KEYS * 2 or not all(isinstance(name, str) for name in known):
        return False
    for test in tests:
        kept = _kept(core, test, key)
        if kept is None:
            return False
        names, wanted = kept
        known = [name for name in known if (name in names) is wanted]
    sure = certain_keys(core, source)
    for name in known:
        core.put(made.cell, name, key_type(core, source, name))
    core.begin(made.cell, sure & set(known))
    return True


def _kept(core: Core, test: ast.expr, key: str) -> tuple[set[str], bool] | None:
    """The keys that a test names, and whether it keeps them or all others."""
    match test:
        case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[right]) if name == key:
            pass
        case _:
            return None
    if isinstance(op, ast.Eq | ast.NotEq) and isinstance(right, ast.Constant):
        return {str(right.value)}, isinstance(op, ast.Eq)
    if not isinstance(op, ast.In | ast.NotIn):
        return None
    names = _named(core, right)
    return (set(names), isinstance(op, ast.In)) if names else None
