"""Types that calls of builtins and of functions of the standard library return.

Only functions that programs commonly apply to tool responses are modelled.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from atc.core.messages import format_expression
from atc.core.tool_calls import PAGES, TOOL_FUNCTIONS
from atc.pipeline.check import types as t
from atc.pipeline.check.concurrency import POOL, call_concurrent
from atc.pipeline.check.functions import CallArguments, apply, read_arguments
from atc.pipeline.check.interpreter import Interpreter
from atc.pipeline.check.kinds import (
    category,
    describe_value,
    forget_constants,
    not_none,
    type_of_constant,
)
from atc.pipeline.check.schema import items_of, list_keys, silence_nulls
from atc.pipeline.check.subscripts import check_hashable, iterate, need_value
from atc.pipeline.check.toolcalls import call_tool

Handler = Callable[[Interpreter, ast.Call, CallArguments], t.Type]

_FIXED: dict[str, t.Type] = {
    **dict.fromkeys(
        ["str", "repr", "format", "ascii", "chr", "hex", "bin", "input", "json.dumps"], t.STR
    ),
    **dict.fromkeys(
        ["isinstance", "issubclass", "callable", "hasattr", "bool", "any", "all"], t.BOOL
    ),
    **dict.fromkeys(["ord", "hash", "id", "math.floor", "math.ceil"], t.INT),
    **dict.fromkeys(
        ["time.time", "random.random", "math.sqrt", "statistics.mean", "statistics.median"],
        t.NUMBER,
    ),
    **dict.fromkeys(["print", "look", "time.sleep", "pprint.pprint"], t.NONE),
}
"""Functions with a fixed result type, which neither keep nor change their arguments."""
_ENDS = {"exit", "quit", "sys.exit", "os._exit"}


def call_library(core: Interpreter, name: str, node: ast.Call) -> t.Type:
    """Return the type that a call of a builtin or library function returns.

    `name` is the name of the function, such as `len` or `json.dumps`.
    """
    if name == "functools.partial" and node.args:
        callee = core.evaluate(node.args[0])
        if isinstance(callee, t.ToolRef):
            call_tool(core, callee.alias, node, skip=1, partial=True)
            return t.ANY
    if name in TOOL_FUNCTIONS and node.args:
        return _call_for(core, name, node)
    if (found := call_concurrent(core, name, node)) is not None:
        return found
    arguments = read_arguments(core, node)
    if name in _ENDS:
        core.frame.env = None
        return t.NEVER
    handler = _HANDLERS.get(name)
    if handler is not None and arguments.sure:
        return handler(core, node, arguments)
    if name not in _FIXED:
        core.escape(arguments.every())
    return _FIXED.get(name, t.ANY)


def _call_for(core: Interpreter, name: str, node: ast.Call) -> t.Type:
    """Return the type that `pages(tool, …)` or `with_headers(tool, …)` returns."""
    callee = core.evaluate(node.args[0])
    if isinstance(callee, t.ToolRef):
        value = call_tool(core, callee.alias, node, skip=1)
        return t.Iterating(value, "generator") if name == PAGES else t.Tuple((value, t.ANY))
    read_arguments(core, node)
    match node.args[0]:
        case ast.Call(func=ast.Name(id=tool), args=[], keywords=keywords) if tool in core.tools:
            given = "".join(f", {ast.unparse(keyword)}" for keyword in keywords)
            better = f"{name}({tool}{given})"
            message = f"{name}() takes the function and its arguments. Write {better}."
            core.report("wrong-operand", node, message, tool=tool, better=better)
    return t.ANY


def first_items(core: Interpreter, arguments: CallArguments) -> t.Type:
    """Return the type of the items in the iterable that a call has as its first argument."""
    return iterate(core, arguments.values[0], arguments.nodes[0]) if arguments.values else t.NEVER


def items_of_each(core: Interpreter, arguments: CallArguments) -> list[t.Type]:
    """Return the type of the items of each argument of a call, one type per argument.

    The arguments are iterables, as in `zip(a, b)`.
    """
    return [
        iterate(core, value, place)
        for value, place in zip(arguments.values, arguments.nodes, strict=True)
    ]


def _element(node: ast.expr) -> ast.expr:
    """Return the expression `e` of a comprehension `[e for …]`; any other expression unchanged."""
    return node.elt if isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp) else node


def _length(core: Interpreter, node: ast.Call, arguments: CallArguments) -> t.Type:
    for first, place in zip(arguments.values[:1], arguments.nodes, strict=False):
        value = need_value(core, first, place, "len() fails on None")
        what = format_expression(place)
        lazy = isinstance(value, t.Iterating) and value.kind not in t.SIZED
        if (category(value) in ("number", "function") or lazy) and not core.catches("TypeError"):
            core.report("not-a-list", node, f"{what} is {describe_value(value)}; it has no len().")
        if (
            isinstance(value, t.Record)
            and value.shape.is_closed
            and len(lists := list_keys(value)) == 1
        ):
            better = f"{what}[{lists[0]!r}]"
            message = (
                f"len({what}) counts its keys: {value.origin} is an object, not a list. Write"
                f" len({better})."
            )
            core.report("not-a-list", place, message, tool=value.origin.tool, better=better)
    return t.INT


def reject_kinds(
    core: Interpreter,
    value: t.Type,
    node: ast.expr,
    kinds: tuple[str, ...],
    name: str,
    then: str,
    *,
    item: bool = False,
) -> t.Type:
    """Report an operand that may be None or is of a kind that an operation does not accept.

    `value` is the type of the operand `node`; if `item` is True, it is the type of the items of
    `node`. `kinds` are the categories of types that the operation rejects. `name` is the operation
    that the message names, and `then` is the end of the message. Return `value` without None.
    """
    if item and _element(node) is not node:
        node = _element(node)
        item = False
    value = need_value(core, value, node, f"{name} fails on None", item=item)
    if category(value) in kinds and not core.catches("TypeError"):
        text = f"an item of {format_expression(node)}" if item else format_expression(node)
        better = None
        if name == "join()" and category(value) == "number":
            better = f"map(str, {format_expression(node)})" if item else f"str({text})"
        then += f" Write {better}." if better else ""
        core.report(
            "wrong-operand", node, f"{text} is {describe_value(value)}{then}", better=better
        )
    return value


def _number(core: Interpreter, node: ast.Call, arguments: CallArguments) -> t.Type:
    """Return the type that a call of `int`, `float`, `round` or `abs` returns."""
    name = format_expression(node.func)
    result = {"int": t.INT, "float": t.FLOAT}.get(name)
    if not arguments.values:
        return result or t.ANY
    wrong = ("dict", "list") if result else ("dict", "list", "str")
    value = reject_kinds(
        core,
        arguments.values[0],
        arguments.nodes[0],
        wrong,
        f"{name}()",
        f"; {name}() does not take it.",
    )
    if name == "round" and category(value) == "number":
        return t.INT if len(arguments.values) == 1 else t.NUMBER
    return result or forget_constants(value)


def _total(core: Interpreter, _node: ast.Call, arguments: CallArguments) -> t.Type:
    """Return the type that a call of `sum` returns."""
    item = first_items(core, arguments)
    if len(arguments.values) != 1 or arguments.named:
        return t.ANY
    kinds = ("str", "dict", "list", "tuple")
    item = reject_kinds(
        core, item, arguments.nodes[0], kinds, "sum()", "; sum() adds numbers only.", item=True
    )
    names = {member.name for member in t.members(item) if isinstance(member, t.Atom)}
    if category(item) != "number":
        return t.ANY
    return t.INT if names <= {"int", "bool"} else t.NUMBER


def _extreme(core: Interpreter, node: ast.Call, arguments: CallArguments) -> t.Type:
    """Return the type that a call of `min` or `max` returns.

    The call may have several values as arguments, or one iterable.
    """
    name = format_expression(node.func)
    if len(arguments.values) != 1:
        pairs = zip(arguments.values, arguments.nodes, strict=True)
        values = [
            need_value(core, value, place, f"{name}() fails on None") for value, place in pairs
        ]
        return t.ANY if "key" in arguments.named else forget_constants(t.join(*values))
    item = first_items(core, arguments)
    check_keyed(core, item, arguments.nodes[0], arguments, f"{name}()")
    # Without a key, the items themselves were compared, so none of them is None.
    item = item if "key" in arguments.named else not_none(item)
    return t.join(item, arguments.named.get("default", t.NEVER))


def check_keyed(
    core: Interpreter, item: t.Type, where: ast.expr, arguments: CallArguments, use: str
) -> None:
    """Report items that `sorted`, `max` or a similar function cannot order.

    `item` is the type of the items. If the call has an argument `key=`, the results of this
    function are examined instead of the items. `use` is the operation in the message (`max()`).
    """
    key = arguments.named.get("key", t.NONE)
    place: ast.expr | None = where
    if key != t.NONE:
        item = apply(core, key, [item])
        place = (
            key.node.body
            if isinstance(key, t.Function) and isinstance(key.node, ast.Lambda)
            else None
        )
        if isinstance(item, t.Tuple) and item.items and isinstance(place, ast.Tuple):
            item = item.items[0]
            place = place.elts[0]
    if place is None:
        return
    first = t.members(item)[0]
    keys = list(first.shape.properties) if isinstance(first, t.Record) else []
    then = f" Say which value to go by: key=lambda x: x[{keys[0]!r}]." if keys else ""
    reject_kinds(
        core, item, place, ("dict",), use, f", which {use} cannot order.{then}", item=place is where
    )


def _sorted(core: Interpreter, node: ast.Call, arguments: CallArguments) -> t.Type:
    item = first_items(core, arguments)
    if arguments.nodes:
        check_keyed(core, item, arguments.nodes[0], arguments, "sorted()")
    return core.add_listing_item(node, item)


def _collection(kind: str, core: Interpreter, node: ast.Call, arguments: CallArguments) -> t.Type:
    item = first_items(core, arguments)
    if kind in ("set", "frozenset") and arguments.nodes:
        check_hashable(core, item, _element(arguments.nodes[0]))
    return core.add_listing_item(node, item, kind)


def _iterator(kind: str) -> Handler:
    return lambda core, _node, arguments: t.Iterating(first_items(core, arguments), kind)


def _groups(core: Interpreter, _node: ast.Call, arguments: CallArguments) -> t.Type:
    """Return the type that a call of `itertools.groupby` returns."""
    item = first_items(core, arguments)
    function = [*arguments.values[1:], *arguments.named.values()][:1]
    key = apply(core, function[0], [item]) if function else item
    return t.Iterating(t.Tuple((key, t.Iterating(item, "group"))), "groupby")


def _map(core: Interpreter, node: ast.Call, arguments: CallArguments) -> t.Type:
    if arguments.values and isinstance(arguments.values[0], t.ToolRef):
        alias = arguments.values[0].alias
        message = (
            f"map() passes by position, and {alias} takes its arguments by name only. Write a"
            " comprehension."
        )
        core.report("positional-argument", node, message, tool=alias)
    items = items_of_each(core, arguments.after())
    function = arguments.values[0] if arguments.values else t.ANY
    fixed = {"str": t.STR, "int": t.INT, "float": t.FLOAT}
    if isinstance(function, t.Library):
        return t.Iterating(fixed.get(function.name, t.ANY), "map")
    return t.Iterating(apply(core, function, items), "map")


def _filter(core: Interpreter, _node: ast.Call, arguments: CallArguments) -> t.Type:
    item = first_items(core, arguments.after())
    apply(core, arguments.values[0] if arguments.values else t.ANY, [item])
    return t.Iterating(silence_nulls(item), "filter")


def _dict(core: Interpreter, node: ast.Call, arguments: CallArguments) -> t.Type:
    if (
        len(arguments.values) == 1
        and isinstance(arguments.values[0], t.Record)
        and not arguments.named
    ):
        return arguments.values[0]
    made = core.create_dict(node)
    made.cell.first = frozenset(arguments.named)
    for name, value in arguments.named.items():
        core.set_item(made.cell, type_of_constant(name), value)
    for value, where in zip(arguments.values, arguments.nodes, strict=True):
        pair = iterate(core, value, where) if not isinstance(value, t.Mapped | t.Record) else t.ANY
        key, item = (
            pair.items if isinstance(pair, t.Tuple) and len(pair.items) == 2 else (t.ANY, t.ANY)
        )
        core.set_item(made.cell, forget_constants(key), item)
    return made


def _default_dict(core: Interpreter, node: ast.Call, arguments: CallArguments) -> t.Type:
    """Return the type that a call of `defaultdict` or `Counter` returns."""
    made = core.create_dict(node)
    if format_expression(node.func).endswith("Counter"):
        made.cell.default = t.INT
        core.set_item(made.cell, forget_constants(first_items(core, arguments)), t.INT)
        return made
    match arguments.values[:1]:
        case [t.Library(name)]:
            fixed = {"int": t.INT, "float": t.FLOAT, "str": t.STR}
            made.cell.default = (
                core.add_listing_item(node, t.NEVER, name)
                if name in ("list", "set")
                else fixed.get(name, t.ANY)
            )
        case [t.Function() as factory]:
            made.cell.default = apply(core, factory, [])
        case _:
            made.cell.default = t.ANY
    core.set_item(made.cell, t.NEVER, made.cell.default)
    return made


_HANDLERS: dict[str, Handler] = {
    "len": _length,
    **dict.fromkeys(["int", "float", "round", "abs"], _number),
    "sum": _total,
    **dict.fromkeys(["min", "max"], _extreme),
    "sorted": _sorted,
    **{name: partial(_collection, name) for name in ("list", "tuple", "set", "frozenset")},
    "collections.deque": partial(_collection, "deque"),
    "reversed": _iterator("reversed"),
    "iter": lambda core, node, given: (
        t.ANY if len(given.values) > 1 else _iterator("iterator")(core, node, given)
    ),
    "range": lambda _core, _node, _arguments: t.Iterating(t.INT, "range"),
    "enumerate": lambda core, _, given: t.Iterating(
        t.Tuple((t.INT, first_items(core, given))), "enumerate"
    ),
    "zip": lambda core, _, given: t.Iterating(t.Tuple(tuple(items_of_each(core, given))), "zip"),
    **dict.fromkeys(["map", f"{POOL}.map"], _map),
    **dict.fromkeys(
        ["heapq.nlargest", "heapq.nsmallest"],
        lambda core, node, given: _sorted(core, node, given.after()),
    ),
    "itertools.groupby": _groups,
    "itertools.chain": lambda core, _, given: t.Iterating(
        t.join_all(items_of_each(core, given)), "chain"
    ),
    "itertools.chain.from_iterable": lambda core, _, given: t.Iterating(
        items_of(first_items(core, given)), "chain"
    ),
    "itertools.islice": _iterator("islice"),
    "filter": _filter,
    "next": lambda core, _, given: t.join(first_items(core, given), *given.values[1:]),
    "dict": _dict,
    "collections.OrderedDict": _dict,
    **dict.fromkeys(["collections.defaultdict", "collections.Counter"], _default_dict),
}
