"""Types of calls of builtins, of the standard library and of methods of built-in types.

Only functions that programs commonly apply to tool responses are modelled.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from atc.core.messages import format_expression
from atc.pipeline.check import types as t
from atc.pipeline.check.budget import spend
from atc.pipeline.check.interpreter import Env, Interpreter, ScopeFrame
from atc.pipeline.check.schema import field_type, items_of, list_keys, silence_nulls, value_type
from atc.pipeline.check.subscripts import check_hashable, iterate, need_value, read_get_call
from atc.pipeline.check.syntax import FunctionNode, is_deferred, parameters
from atc.pipeline.check.toolcalls import call_tool

MOST_DEPTH = 12


@dataclass(frozen=True, slots=True)
class CallArguments:
    """Evaluated arguments of a call of anything but a tool.

    `sure` is False if `*` or `**` passes arguments that are not known; these values are in `loose`.
    """

    values: list[t.Type]
    nodes: list[ast.expr]
    named: dict[str, t.Type]
    sure: bool
    loose: list[t.Type]

    def after(self) -> CallArguments:
        """Return the arguments without the first positional one."""
        return replace(self, values=self.values[1:], nodes=self.nodes[1:])

    def every(self) -> Iterator[t.Type]:
        """Yield all values passed."""
        yield from self.values
        yield from self.named.values()
        yield from self.loose


def read_arguments(core: Interpreter, node: ast.Call) -> CallArguments:
    """Evaluate every argument of a call."""
    values: list[t.Type] = []
    nodes: list[ast.expr] = []
    named: dict[str, t.Type] = {}
    loose: list[t.Type] = []
    for argument in node.args:
        if not isinstance(argument, ast.Starred):
            values.append(core.evaluate(argument))
            nodes.append(argument)
            continue
        value = core.evaluate(argument.value)
        if isinstance(value, t.Tuple):
            values.extend(value.items)
            nodes.extend([argument.value] * len(value.items))
        else:
            loose.append(value)
    for keyword in node.keywords:
        value = core.evaluate(keyword.value)
        if keyword.arg is None:
            loose.append(value)
        else:
            named[keyword.arg] = value
    return CallArguments(values, nodes, named, not loose, loose)


def call_function(
    core: Interpreter,
    function: t.Function,
    positional: Sequence[t.Type],
    named: Mapping[str, t.Type],
    *,
    sure: bool = True,
    call: ast.Call | None = None,
) -> t.Type:
    """Return the type of a call of one of the program's functions.

    If `sure` is False, the arguments are not all known, and every parameter gets the type `ANY`.
    """
    node = function.node
    spend(8 * (len(parameters(node)) + len(named)))
    bound = _bind_parameters(function, positional, named) if sure else None
    if sure and bound is None and call is not None and not core.catches("TypeError"):
        many = len(positional) > len(parameters(node))
        unknown = named.keys() - set(parameters(node))
        code = (
            "positional-argument" if many else "unknown-argument" if unknown else "missing-argument"
        )
        takes = f"{getattr(node, 'name', 'the lambda')} takes ({ast.unparse(node.args)})"
        core.report(code, call, f"{takes}: the arguments of this call do not fit.")
    too_deep = node in core.active or len(core.active) >= MOST_DEPTH
    if bound is None or too_deep:
        core.escape([*positional, *named.values()])
        bound = dict.fromkeys(parameters(node), t.ANY)
    if too_deep:
        return t.ANY
    core.analysed.add(node)
    return run_body(
        core,
        function,
        ScopeFrame(
            node, function.frame, Env(bound, core.env.null_checked), detached=is_deferred(node)
        ),
    )


def run_body(core: Interpreter, function: t.Function, frame: ScopeFrame) -> t.Type:
    """Execute a function's body in `frame` and return the type of its result."""
    node = function.node
    outer = core.frame
    core.frame = frame
    core.active.append(node)
    try:
        if isinstance(node, ast.Lambda):
            return core.evaluate(node.body)
        core.execute(node.body)
        if frame.yields:
            return t.Iterating(t.join(*frame.yields), "generator")
        if frame.env is not None:
            # If only some paths return a value, do not report None for the others.
            frame.returns.append(t.ANY if frame.returns else t.NONE)
        result = t.join_all(frame.returns)
        return t.ANY if isinstance(node, ast.AsyncFunctionDef) else result
    finally:
        core.active.pop()
        core.frame = outer


def _bind_parameters(
    function: t.Function, positional: Sequence[t.Type], named: Mapping[str, t.Type]
) -> dict[str, t.Type] | None:
    """Return the type of each parameter, or None if the arguments do not fit the signature."""
    arguments = function.node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    keywords = {*names, *(argument.arg for argument in arguments.kwonlyargs)}
    optional = [
        *names[len(names) - len(arguments.defaults) :],
        *(a.arg for a in arguments.kwonlyargs),
    ]
    bound = dict.fromkeys(optional, t.ANY) | dict(zip(names, positional, strict=False))
    bound |= {name: value for name, value in named.items() if name in keywords}
    rest = {name: value for name, value in named.items() if name not in keywords}
    if (len(positional) > len(names) and arguments.vararg is None) or (
        rest and arguments.kwarg is None
    ):
        return None
    if arguments.vararg is not None:
        bound[arguments.vararg.arg] = t.Tuple(tuple(positional[len(names) :]))
    if arguments.kwarg is not None:
        # Each call gets its own dict, and all its keys are known.
        bound[arguments.kwarg.arg] = t.Mapped(t.DictCell(rest, first=frozenset(rest)))
    return bound if keywords <= bound.keys() else None


def note_function(core: Interpreter, node: FunctionNode) -> t.Type:
    """Return the type of a function definition. Its defaults are evaluated here, where it is
    defined.
    """
    core.defined_in[node] = core.frame
    for default in (*node.args.defaults, *node.args.kw_defaults):
        if default is not None:
            core.evaluate(default)
    return t.Function(node, core.frame)


def apply(core: Interpreter, function: t.Type, values: list[t.Type]) -> t.Type:
    """Return the type of `function(*values)`. It is only known for the program's own functions and
    for tools.
    """
    values = [t.ANY if value is t.NEVER else value for value in values]
    return t.join_all(
        call_function(core, member, values, {})
        if isinstance(member, t.Function)
        else (core.tool_result(member.alias) if isinstance(member, t.ToolRef) else t.ANY)
        for member in t.members(function)
    )


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
    **dict.fromkeys(["print", "time.sleep", "pprint.pprint"], t.NONE),
}
"""Functions that always return this type, and neither keep nor change their arguments."""
_POOL = "concurrent.futures.ThreadPoolExecutor()"
_ENDS = {"exit", "quit", "sys.exit", "os._exit"}


def call_library(core: Interpreter, name: str, node: ast.Call) -> t.Type:
    """Return the type of a call of a builtin or of a name in a module."""
    if name in ("asyncio.to_thread", "functools.partial", f"{_POOL}.submit") and node.args:
        callee = core.evaluate(node.args[0])
        if isinstance(callee, t.ToolRef):
            call_tool(core, callee.alias, node, skip=1, partial=name == "functools.partial")
            return t.ANY
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


def _first_items(core: Interpreter, arguments: CallArguments) -> t.Type:
    """Return the item type of the first argument."""
    return iterate(core, arguments.values[0], arguments.nodes[0]) if arguments.values else t.NEVER


def _each(core: Interpreter, arguments: CallArguments) -> list[t.Type]:
    """Return the item type of every argument."""
    return [
        iterate(core, value, place)
        for value, place in zip(arguments.values, arguments.nodes, strict=True)
    ]


def _element(node: ast.expr) -> ast.expr:
    """Return the element expression of a comprehension; any other expression is returned
    unchanged.
    """
    return node.elt if isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp) else node


def _length(core: Interpreter, node: ast.Call, arguments: CallArguments) -> t.Type:
    for first, place in zip(arguments.values[:1], arguments.nodes, strict=False):
        value = need_value(core, first, place, "len() fails on None")
        what = format_expression(place)
        lazy = isinstance(value, t.Iterating) and value.kind not in t.SIZED
        if (t.category(value) in ("number", "function") or lazy) and not core.catches("TypeError"):
            core.report(
                "not-a-list", node, f"{what} is {t.describe_value(value)}; it has no len()."
            )
        if (
            isinstance(value, t.Record)
            and value.shape.is_closed
            and len(lists := list_keys(value)) == 1
        ):
            better = f"{what}[{lists[0]!r}]"
            message = f"len({what}) counts its keys: {value.origin} is an object, not a list. Write len({better})."
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
    """Return `value` without None, and report a value that may be None or whose kind is in `kinds`.

    `name` is the operation in the message, `then` the end of the message. If `item` is True,
    `value` is not `node` itself but one of its items.
    """
    if item and _element(node) is not node:
        node = _element(node)
        item = False
    value = need_value(core, value, node, f"{name} fails on None", item=item)
    if t.category(value) in kinds and not core.catches("TypeError"):
        text = f"an item of {format_expression(node)}" if item else format_expression(node)
        number = name == "join()" and t.category(value) == "number"
        better = (
            (f"map(str, {format_expression(node)})" if item else f"str({text})") if number else None
        )
        then += f" Write {better}." if better else ""
        core.report(
            "wrong-operand", node, f"{text} is {t.describe_value(value)}{then}", better=better
        )
    return value


def _number(core: Interpreter, node: ast.Call, arguments: CallArguments) -> t.Type:
    """Return the type of `int`, `float`, `round` and `abs`."""
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
    if name == "round" and t.category(value) == "number":
        return t.INT if len(arguments.values) == 1 else t.NUMBER
    return result or t.forget_constants(value)


def _total(core: Interpreter, _node: ast.Call, arguments: CallArguments) -> t.Type:
    """Return the type of `sum`."""
    item = _first_items(core, arguments)
    if len(arguments.values) != 1 or arguments.named:
        return t.ANY
    kinds = ("str", "dict", "list", "tuple")
    item = reject_kinds(
        core, item, arguments.nodes[0], kinds, "sum()", "; sum() adds numbers only.", item=True
    )
    names = {member.name for member in t.members(item) if isinstance(member, t.Atom)}
    return (
        t.ANY if t.category(item) != "number" else t.INT if names <= {"int", "bool"} else t.NUMBER
    )


def _extreme(core: Interpreter, node: ast.Call, arguments: CallArguments) -> t.Type:
    """Return the type of `min` and `max`, called with several values or with one iterable."""
    name = format_expression(node.func)
    if len(arguments.values) != 1:
        pairs = zip(arguments.values, arguments.nodes, strict=True)
        values = [
            need_value(core, value, place, f"{name}() fails on None") for value, place in pairs
        ]
        return t.ANY if "key" in arguments.named else t.forget_constants(t.join(*values))
    item = _first_items(core, arguments)
    _check_keyed(core, item, arguments.nodes[0], arguments, f"{name}()")
    # Without a key, the items themselves were compared, so none of them is None.
    item = item if "key" in arguments.named else t.not_none(item)
    return t.join(item, arguments.named.get("default", t.NEVER))


def _check_keyed(
    core: Interpreter, item: t.Type, where: ast.expr, arguments: CallArguments, use: str
) -> None:
    """Check the values that items are ordered by: the results of `key=`, or else the items
    themselves.
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
    item = _first_items(core, arguments)
    if arguments.nodes:
        _check_keyed(core, item, arguments.nodes[0], arguments, "sorted()")
    return core.add_listing_item(node, item)


def _collection(kind: str, core: Interpreter, node: ast.Call, arguments: CallArguments) -> t.Type:
    item = _first_items(core, arguments)
    if kind in ("set", "frozenset") and arguments.nodes:
        check_hashable(core, item, _element(arguments.nodes[0]))
    return core.add_listing_item(node, item, kind)


def _iterator(kind: str) -> Handler:
    return lambda core, _node, arguments: t.Iterating(_first_items(core, arguments), kind)


def _groups(core: Interpreter, _node: ast.Call, arguments: CallArguments) -> t.Type:
    """Return the type of `itertools.groupby`."""
    item = _first_items(core, arguments)
    function = [*arguments.values[1:], *arguments.named.values()][:1]
    key = apply(core, function[0], [item]) if function else item
    return t.Iterating(t.Tuple((key, t.Iterating(item, "group"))), "groupby")


def _map(core: Interpreter, node: ast.Call, arguments: CallArguments) -> t.Type:
    if arguments.values and isinstance(arguments.values[0], t.ToolRef):
        alias = arguments.values[0].alias
        message = f"map() passes by position, and {alias} takes its arguments by name only. Write a comprehension."
        core.report("positional-argument", node, message, tool=alias)
    items = _each(core, arguments.after())
    function = arguments.values[0] if arguments.values else t.ANY
    fixed = {"str": t.STR, "int": t.INT, "float": t.FLOAT}
    if isinstance(function, t.Library):
        return t.Iterating(fixed.get(function.name, t.ANY), "map")
    return t.Iterating(apply(core, function, items), "map")


def _filter(core: Interpreter, _node: ast.Call, arguments: CallArguments) -> t.Type:
    item = _first_items(core, arguments.after())
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
        core.set_item(made.cell, t.type_of_constant(name), value)
    for value, where in zip(arguments.values, arguments.nodes, strict=True):
        pair = iterate(core, value, where) if not isinstance(value, t.Mapped | t.Record) else t.ANY
        key, item = (
            pair.items if isinstance(pair, t.Tuple) and len(pair.items) == 2 else (t.ANY, t.ANY)
        )
        core.set_item(made.cell, t.forget_constants(key), item)
    return made


def _default_dict(core: Interpreter, node: ast.Call, arguments: CallArguments) -> t.Type:
    """Return the type of `defaultdict(…)` and `Counter(…)`."""
    made = core.create_dict(node)
    if format_expression(node.func).endswith("Counter"):
        made.cell.default = t.INT
        core.set_item(made.cell, t.forget_constants(_first_items(core, arguments)), t.INT)
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
        t.Tuple((t.INT, _first_items(core, given))), "enumerate"
    ),
    "zip": lambda core, _, given: t.Iterating(t.Tuple(tuple(_each(core, given))), "zip"),
    **dict.fromkeys(["map", f"{_POOL}.map"], _map),
    **dict.fromkeys(
        ["heapq.nlargest", "heapq.nsmallest"],
        lambda core, node, given: _sorted(core, node, given.after()),
    ),
    "itertools.groupby": _groups,
    "itertools.chain": lambda core, _, given: t.Iterating(t.join_all(_each(core, given)), "chain"),
    "itertools.chain.from_iterable": lambda core, _, given: t.Iterating(
        items_of(_first_items(core, given)), "chain"
    ),
    "itertools.islice": _iterator("islice"),
    "concurrent.futures.ThreadPoolExecutor": lambda _core, _node, _given: t.Library(_POOL),
    "filter": _filter,
    "next": lambda core, _, given: t.join(_first_items(core, given), *given.values[1:]),
    "dict": _dict,
    "collections.OrderedDict": _dict,
    **dict.fromkeys(["collections.defaultdict", "collections.Counter"], _default_dict),
}


_TEXT: dict[str, t.Type] = {
    **dict.fromkeys(
        ["strip", "lstrip", "rstrip", "lower", "upper", "title", "capitalize", "casefold", "replace", "zfill", "join",
         "format", "removeprefix", "removesuffix", "ljust", "rjust", "center", "swapcase", "translate"], t.STR
    ),
    **dict.fromkeys(["find", "index", "count", "rfind", "rindex"], t.INT),
    **dict.fromkeys(["startswith", "endswith", "isdigit", "isalpha", "isnumeric", "isupper", "islower"], t.BOOL),
}  # fmt: skip


def call_method(
    core: Interpreter, value: t.Type, func: ast.Attribute, node: ast.Call, arguments: CallArguments
) -> t.Type:
    """Return the type of `value.method(…)`, and apply the changes that the method makes to
    containers.
    """
    if func.attr == "get" and any(
        isinstance(member, t.Record | t.Mapped) for member in t.members(value)
    ):
        fits = arguments.sure and 0 < len(arguments.values) < 3
        return read_get_call(core, value, node, arguments.values) if fits else t.ANY
    return t.join_all(
        [_call_one(core, member, func, node, arguments) for member in t.members(value)]
    )


def _call_one(
    core: Interpreter, member: t.Type, func: ast.Attribute, node: ast.Call, arguments: CallArguments
) -> t.Type:
    match member:
        case t.Record() | t.Mapped():
            return _call_dict_method(core, member, func.attr, node, arguments)
        case t.Array() | t.Listing():
            return _call_list_method(core, member, func, node, arguments)
        case t.Atom("str"):
            if func.attr == "join" and arguments.values:
                kinds = ("number", "dict", "list")
                then = "; join() takes strings only."
                reject_kinds(
                    core,
                    _first_items(core, arguments),
                    arguments.nodes[0],
                    kinds,
                    "join()",
                    then,
                    item=True,
                )
            if func.attr in ("split", "splitlines", "rsplit"):
                return core.add_listing_item(node, t.STR)
            return _TEXT.get(func.attr, t.ANY)
        case t.Atom() | t.Tuple():
            return t.ANY
        case _:
            core.escape(arguments.every())
            return t.ANY


def _call_dict_method(
    core: Interpreter,
    member: t.Record | t.Mapped,
    method: str,
    node: ast.Call,
    arguments: CallArguments,
) -> t.Type:
    if isinstance(member, t.Mapped):
        kinds = [*member.cell.keys.values(), member.cell.value]
        keys = items_of(member)
    else:
        kinds = [field_type(member, key) or t.ANY for key in member.shape.properties]
        keys = t.STR
        kinds = kinds if kinds and member.shape.is_closed else [value_type(member)]
    values = t.join_all(kinds) if not core.hints.stored else t.ANY
    match method, arguments.values:
        case "keys", _:
            return t.Iterating(keys, "dict_keys")
        case "values", _:
            return t.Iterating(values, "dict_values")
        case "items", _:
            return t.Iterating(t.Tuple((keys, values)), "dict_items")
        case "most_common", _:
            return core.add_listing_item(node, t.Tuple((keys, values)))
        case "copy", _:
            return member
        case "setdefault", [index, *default] if isinstance(member, t.Mapped):
            core.set_item(member.cell, index, default[0] if default else t.NONE)
            return member.cell.keys.get(t.constant(index), member.cell.value)
        case _:
            core.foreign |= isinstance(member, t.Record) and method in ("update", "setdefault")
            core.escape([member, *arguments.every()])
            return t.ANY


def _call_list_method(
    core: Interpreter,
    member: t.Array | t.Listing,
    func: ast.Attribute,
    node: ast.Call,
    arguments: CallArguments,
) -> t.Type:
    item = items_of(member)
    match func.attr:
        case "append" | "add" | "appendleft":
            if func.attr == "add" and arguments.nodes:
                check_hashable(core, arguments.values[0], arguments.nodes[0])
            _add_item(core, member, t.join(*arguments.values))
        case "insert":
            _add_item(core, member, t.join(*arguments.values[1:]))
        case "extend" | "update" | "extendleft":
            for added in _each(core, arguments):
                _add_item(core, member, added)
        case "sort":
            _check_keyed(core, item, func.value, arguments, "sort()")
        case "pop" | "popleft":
            return t.ANY if item is t.NEVER else item
        case "copy" | "union" | "intersection" | "difference" | "symmetric_difference":
            more = [items_of(value) for value in arguments.values] if func.attr == "union" else []
            return core.add_listing_item(
                node, t.join(item, *more), member.kind if isinstance(member, t.Listing) else "list"
            )
        case "index" | "count":
            return t.INT
        case "clear" | "remove" | "discard" | "reverse":
            if arguments.values == [t.NONE]:
                core.env.null_checked |= {
                    m.origin
                    for m in t.members(item)
                    if isinstance(m, t.Null) and m.origin is not None
                }
        case _:
            core.escape([member, *arguments.every()])
            return t.ANY
    return t.NONE


def _add_item(core: Interpreter, member: t.Array | t.Listing, item: t.Type) -> None:
    if isinstance(member, t.Listing):
        core.add(member.cell, item)
        return
    core.escape([item])
    own = items_of(member)
    core.foreign |= t.join(own, item) != own
