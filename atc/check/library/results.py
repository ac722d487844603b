"""What builtins and the standard library give: only what matters for following responses through a program."""

from __future__ import annotations

import ast

from atc.check.functions.arguments import Arguments, read_arguments
from atc.check.functions.classes import as_dict, dataclass_field, named_tuple
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
    Awaitable,
    Null,
    ToolRef,
    Type,
)
from atc.check.library.aggregates import Handler, absolute, extreme, length, rounded, to_number, total
from atc.check.library.concurrency import ASYNCIO
from atc.check.library.getters import make_getter
from atc.check.library.iterators import ITERATORS
from atc.check.library.json_texts import read_json
from atc.check.library.making import collection, copied, make_counter, make_default_dict, make_dict, make_from_keys
from atc.check.library.numbers import COMPUTED
from atc.check.library.pools import EXECUTOR
from atc.check.library.streams import STREAMS
from atc.check.library.taken import check_taken
from atc.check.operations.decimals import DECIMAL
from atc.check.operations.moments import MAKERS, made_of, read_text
from atc.check.tools.calls import call_tool

_FIXED: dict[str, Type] = {
    **dict.fromkeys(
        ["str", "repr", "format", "ascii", "chr", "hex", "bin", "oct", "input", "json.dumps", "type.__name__"], STR
    ),
    **dict.fromkeys(["isinstance", "issubclass", "callable", "hasattr", "bool"], BOOL),
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
    check_taken(core, name, node, arguments)
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


def _getter(attributes: bool) -> Handler:
    return lambda _core, node, arguments: make_getter(attributes, node, arguments)


_HANDLERS: dict[str, Handler] = {
    **STREAMS,
    **COMPUTED,
    **ITERATORS,
    "collections.namedtuple": named_tuple,
    "dataclasses.asdict": as_dict,
    "dataclasses.field": dataclass_field,
    "json.loads": read_json,
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
    "list": collection("list"),
    "tuple": collection("tuple"),
    "set": collection("set"),
    "frozenset": collection("frozenset"),
    "collections.deque": collection("deque"),
    "dict": make_dict,
    "dict.fromkeys": make_from_keys,
    "collections.OrderedDict": make_dict,
    "collections.defaultdict": make_default_dict,
    "collections.Counter": make_counter,
    "copy.deepcopy": copied,
    "copy.copy": copied,
}
