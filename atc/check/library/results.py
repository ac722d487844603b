"""What builtins and the standard library give: only what matters for following responses through a program."""

from __future__ import annotations

import ast

from atc.check.functions.arguments import Arguments, read_arguments
from atc.check.functions.classes import as_dict, dataclass_field, named_tuple
from atc.check.known.constants import settled
from atc.check.known.core import Core
from atc.check.known.folding import called_function, written
from atc.check.known.kinds import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NEVER,
    NONE,
    STR,
    Array,
    Awaitable,
    Iterating,
    Library,
    Mapped,
    Null,
    Record,
    ToolRef,
    Tuple,
    Type,
)
from atc.check.known.lattice import join, joined, members, not_none
from atc.check.known.nulls import need_value
from atc.check.known.words import described
from atc.check.library.aggregates import Handler, absolute, extreme, first_items, length, rounded, to_number, total
from atc.check.library.concurrency import ASYNCIO
from atc.check.library.getters import make_getter
from atc.check.library.making import collection, copied, make_counter, make_default_dict, make_dict, make_from_keys
from atc.check.library.numbers import COMPUTED
from atc.check.library.ordering import apply, check_keyed, element_of
from atc.check.library.pools import EXECUTOR
from atc.check.library.streams import STREAMS
from atc.check.narrowing.narrowing_calls import kept_by
from atc.check.narrowing.turns import counted, each_item, range_of
from atc.check.operations.decimals import DECIMAL
from atc.check.operations.iteration import iterate, iterate_one, some_item
from atc.check.operations.moments import MAKERS, made_of, read_text
from atc.check.operations.operators import category
from atc.check.report import spelled
from atc.check.tools.calls import call_tool, report_mapped

_FIXED: dict[str, Type] = {
    **dict.fromkeys(
        ["str", "repr", "format", "ascii", "chr", "hex", "bin", "oct", "input", "json.dumps", "type.__name__"], STR
    ),
    **dict.fromkeys(["any", "all", "isinstance", "issubclass", "callable", "hasattr", "bool"], BOOL),
    **dict.fromkeys(["ord", "hash", "id"], INT),
    **dict.fromkeys(["time.time", "random.random"], FLOAT),
    **dict.fromkeys(
        ["print", "setattr", "delattr", "time.sleep", "pprint.pprint", "random.shuffle", "random.seed"], NONE
    ),
    **MAKERS,
    "decimal.Decimal": DECIMAL,
    **dict.fromkeys(
        ["concurrent.futures.ThreadPoolExecutor", "concurrent.futures.thread.ThreadPoolExecutor"], EXECUTOR
    ),
}
"""Functions that keep and change nothing of what they are given, and always give this."""

_ENDS = {"exit", "quit", "sys.exit", "os._exit"}
_HARMLESS = {"copy.deepcopy", "copy.copy", "statistics.mode"}


def call_library(core: Core, name: str, node: ast.Call) -> Type:
    """The type of a call of a builtin or of a name in a module."""
    if name in ("asyncio.to_thread", "functools.partial") and node.args:
        callee = core.evaluate(node.args[0])
        if isinstance(callee, ToolRef):
            result = call_tool(core, callee.alias, node, skip=1, partial=name == "functools.partial")
            if name == "asyncio.to_thread":
                return Awaitable(result)
    if name in ASYNCIO:
        return ASYNCIO[name](core, node)
    arguments = read_arguments(core, node)
    if name in _ENDS:
        core.frame.env = None
        return NEVER
    if (moment := read_text(core, name, arguments)) is not None:
        return _computed(name, arguments) or moment
    core.decimals |= name == "decimal.Decimal"
    handler = _HANDLERS.get(name)
    exact = _computed(name, arguments)
    if handler is not None and arguments.sure:
        result = handler(core, node, arguments)
        return result if exact is None or result is ANY else exact
    if exact is not None:
        return exact
    if name not in _FIXED and name not in _HARMLESS:
        core.escape(arguments.every())
    return _FIXED.get(name, ANY)


def _computed(name: str, arguments: Arguments) -> Type | None:
    """What it gives of constants."""
    if not arguments.sure:
        return None
    if name.startswith("datetime."):
        return made_of(name, arguments.values, arguments.named)
    if name == "str" and len(arguments.values) == 1:
        return written(arguments.values[0], 115, "") if not isinstance(arguments.values[0], Null) else None
    return called_function(name, arguments.values) if not arguments.named else None


def _sorted(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    item = first_items(core, arguments)
    if arguments.first() is not None:
        check_keyed(core, item, arguments.nodes[0], arguments, "sorted()")
        item = each_item(arguments.values[0], item)
    return core.listing(node, item)


def _iterator(kind: str) -> Handler:
    def handler(core: Core, _node: ast.Call, arguments: Arguments) -> Type:
        item = first_items(core, arguments)
        item = each_item(arguments.values[0], item) if kind == "reversed" and arguments.values else item
        return Iterating(item, kind)

    return handler


def _iter(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    """`iter(items)`, or `iter(function, last)`, which calls until `last` comes."""
    if len(arguments.values) == 2:
        return Iterating(apply(core, arguments.values[0], []))
    return _iterator("iterator")(core, node, arguments)


def _enumerate(core: Core, _node: ast.Call, arguments: Arguments) -> Type:
    start = arguments.values[1] if len(arguments.values) > 1 else arguments.named.get("start", ANY)
    item = first_items(core, arguments)
    if arguments.values:
        item = each_item(arguments.values[0], item)
    return Iterating(Tuple((counted(start) or INT, item)), "enumerate")


def _zip(core: Core, _node: ast.Call, arguments: Arguments) -> Type:
    pairs = zip(arguments.values, arguments.nodes, strict=True)
    return Iterating(Tuple(tuple(iterate(core, value, where) for value, where in pairs)), "zip")


def _zip_longest(_core: Core, _node: ast.Call, _arguments: Arguments) -> Type:
    return Iterating(ANY)


def _range(core: Core, _node: ast.Call, arguments: Arguments) -> Type:
    for value, where in zip(arguments.values, arguments.nodes, strict=True):
        need_value(core, value, where, "range() fails on None")
    return Iterating(range_of(arguments.values) or INT, "range")


def _next(_core: Core, _node: ast.Call, arguments: Arguments) -> Type:
    if not arguments.values:
        return ANY
    found = joined(
        settled(some_item(m.item)) if isinstance(m, Iterating) else ANY for m in members(arguments.values[0])
    )
    return join(found, *arguments.values[1:])


def _map(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    if len(arguments.values) < 2:
        return ANY
    function = arguments.values[0]
    items = [iterate(core, v, n) for v, n in zip(arguments.values[1:], arguments.nodes[1:], strict=True)]
    if isinstance(function, ToolRef):
        report_mapped(core, function, node)
    if isinstance(function, Library):
        known = {"int": INT, "float": FLOAT, "str": STR}.get(function.name, ANY)
        if function.name in ("int", "float"):
            need_value(core, items[0], element_of(arguments.nodes[1]), f"{function.name}() fails on None")
        return Iterating(known, "map")
    return Iterating(apply(core, function, items, None if isinstance(function, ToolRef) else node), "map")


def _filter(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    if len(arguments.values) != 2:
        return ANY
    item = iterate(core, arguments.values[1], arguments.nodes[1])
    function = arguments.values[0]
    if isinstance(function, Null):
        return Iterating(not_none(item), "filter")
    apply(core, function, [item], node)
    return Iterating(kept_by(core, function, item), "filter")


def _chain(core: Core, _node: ast.Call, arguments: Arguments) -> Type:
    pairs = zip(arguments.values, arguments.nodes, strict=True)
    return Iterating(joined(iterate(core, value, where) for value, where in pairs), "itertools.chain")


def _chain_all(core: Core, _node: ast.Call, arguments: Arguments) -> Type:
    inner = first_items(core, arguments)
    return Iterating(joined(iterate_one(core, member) for member in members(inner)), "itertools.chain")


def _json_loads(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    first = arguments.first()
    if first is None or arguments.named or core.catches("TypeError", "Exception", "BaseException"):
        return ANY
    if _reshapes(node):
        return ANY
    match first[1]:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="json"), attr="dumps"), args=[copied_node], keywords=[]):
            with core.silence():
                value = core.evaluate(copied_node)
            return value if isinstance(value, Record | Array) else ANY
    kind = category(first[0])
    if kind in ("dict", "list", "number") or isinstance(first[0], Mapped):
        what = spelled(first[1])
        message = f"{what} is {described(members(first[0])[0])}, not text: it needs no json.loads(). Use {what} itself."
        core.report("wrong-operand", first[1], message, better=what)
        return first[0]
    return ANY


def _reshapes(node: ast.Call) -> bool:
    """Whether `json.loads` makes something else of objects or numbers (`object_hook=`), or its reader is another."""
    kept = ("strict", "parse_constant")
    return any(keyword.arg not in kept for keyword in node.keywords)


def _getter(attributes: bool) -> Handler:
    return lambda _core, node, arguments: make_getter(attributes, node, arguments)


_HANDLERS: dict[str, Handler] = {
    **STREAMS,
    **COMPUTED,
    "collections.namedtuple": named_tuple,
    "dataclasses.asdict": as_dict,
    "dataclasses.field": dataclass_field,
    "json.loads": _json_loads,
    "operator.itemgetter": _getter(attributes=False),
    "operator.attrgetter": _getter(attributes=True),
    "len": length,
    "int": to_number(INT),
    "float": to_number(FLOAT),
    "round": rounded,
    "abs": absolute,
    "sum": total,
    "min": extreme,
    "max": extreme,
    "sorted": _sorted,
    "list": collection("list"),
    "tuple": collection("tuple"),
    "set": collection("set"),
    "frozenset": collection("frozenset"),
    "collections.deque": collection("deque"),
    "reversed": _iterator("reversed"),
    "iter": _iter,
    "enumerate": _enumerate,
    "zip": _zip,
    "itertools.zip_longest": _zip_longest,
    "itertools.chain": _chain,
    "itertools.chain.from_iterable": _chain_all,
    "range": _range,
    "next": _next,
    "map": _map,
    "filter": _filter,
    "dict": make_dict,
    "dict.fromkeys": make_from_keys,
    "collections.OrderedDict": make_dict,
    "collections.defaultdict": make_default_dict,
    "collections.Counter": make_counter,
    "copy.deepcopy": copied,
    "copy.copy": copied,
}
