"""`list()`, `dict()`, `Counter()` and the like: new containers of what they are given."""

from __future__ import annotations

import ast

from atc.check.functions.arguments import Arguments
from atc.check.known.containers import certain_keys, constant_texts, merge
from atc.check.known.core import Core
from atc.check.known.kinds import (
    ANY,
    FLOAT,
    INT,
    NEVER,
    NONE,
    STR,
    Array,
    Atom,
    Function,
    Library,
    Mapped,
    Null,
    Record,
    Tuple,
    Type,
)
from atc.check.known.lattice import members
from atc.check.library.aggregates import Handler, first_items
from atc.check.library.ordering import apply, element_of
from atc.check.narrowing.turns import each_item
from atc.check.operations.hashing import check_hashable
from atc.check.operations.iteration import iterate


def collection(kind: str) -> Handler:
    """`list(x)`, `set(x)` and the like."""

    def handler(core: Core, node: ast.Call, arguments: Arguments) -> Type:
        if not arguments.values:
            return core.listing(node, NEVER, kind)
        item = each_item(arguments.values[0], first_items(core, arguments))
        if kind in ("set", "frozenset"):
            check_hashable(core, item, element_of(arguments.nodes[0]))
        return core.listing(node, item, kind)

    return handler


def make_dict(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    """`dict(…)`."""
    if len(arguments.values) == 1 and isinstance(arguments.values[0], Record) and not arguments.named:
        return arguments.values[0]
    made = core.mapped(node)
    first = set(arguments.named)
    for name, value in arguments.named.items():
        core.put(made.cell, name, value)
    for value, where in zip(arguments.values, arguments.nodes, strict=True):
        if all(isinstance(member, Mapped | Record) for member in members(value)):
            merge(core, made, value)
            first |= certain_keys(core, value)
            continue
        pair = iterate(core, value, where)
        key, item = pair.items if isinstance(pair, Tuple) and len(pair.items) == 2 else (ANY, ANY)
        core.put_any(made.cell, key, item)
    core.begin(made.cell, first)
    return made


def make_from_keys(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    """`dict.fromkeys(keys, value)`."""
    made = core.mapped(node)
    keys = first_items(core, arguments)
    if arguments.values:
        check_hashable(core, keys, element_of(arguments.nodes[0]))
    held = arguments.values[1] if len(arguments.values) > 1 else ANY
    texts = constant_texts(arguments.values[0]) if arguments.sure and arguments.values else []
    for text in texts:
        core.put(made.cell, text, held)
    if texts:
        core.begin(made.cell, texts)
    else:
        core.put_any(made.cell, keys, held)
    return made


def make_default_dict(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    """`defaultdict(…)`."""
    made = core.mapped(node)
    factory = arguments.values[0] if arguments.values else NONE
    fixed: dict[str, Type] = {"int": INT, "float": FLOAT, "str": STR}
    default: Type = ANY
    if isinstance(factory, Library):
        default = core.listing(node, NEVER, factory.name) if factory.name in ("list", "set") else ANY
        default = fixed.get(factory.name, default)
    elif isinstance(factory, Function):
        default = apply(core, factory, [])
    if isinstance(factory, Null):
        return made
    made.cell.default = default
    core.put_any(made.cell, NEVER, default)
    return made


def make_counter(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    """`Counter(…)`."""
    made = core.mapped(node)
    made.cell.default = INT
    keys = first_items(core, arguments) if arguments.values else NEVER
    if arguments.values:
        check_hashable(core, keys, element_of(arguments.nodes[0]))
    core.put_any(made.cell, keys, INT)
    return made


def copied(_core: Core, _node: ast.Call, arguments: Arguments) -> Type:
    """`copy.copy(x)`: changes of the copy are taken for changes of the original."""
    value = arguments.values[0] if arguments.values else ANY
    return value if isinstance(value, Record | Array | Atom) else ANY
