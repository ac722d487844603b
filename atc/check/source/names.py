"""Which scope binds which name, and the names that nothing binds."""

from __future__ import annotations

import ast
import builtins
import sys

from atc.check.report import finding, listed, nearest
from atc.check.source.scopes import Scope, Scopes
from atc.types import Finding
from protocols.toolbox import Toolbox
from protocols.words import alike

GIVEN = frozenset(dir(builtins)) | {
    "ToolError", "__name__", "__file__", "__doc__", "__builtins__", "__annotations__", "__spec__", "__package__",
    "__loader__", "__class__", "__module__", "__qualname__", "reveal_type",
}  # fmt: skip
"""Names that every program has besides its tools."""

_FEW = 8
"""Of more tools than this only the nearest are named."""

_MOST_UNBOUND = 20
"""Names that nothing binds, of which a finding is made."""

_MODULE_OF = {
    "Counter": "collections", "defaultdict": "collections", "OrderedDict": "collections", "deque": "collections",
    "namedtuple": "collections", "datetime": "datetime", "timedelta": "datetime", "date": "datetime",
    "timezone": "datetime", "sleep": "time", "sqrt": "math", "ceil": "math", "floor": "math", "mean": "statistics",
    "median": "statistics", "stdev": "statistics", "groupby": "itertools", "chain": "itertools", "reduce": "functools",
    "partial": "functools", "lru_cache": "functools", "itemgetter": "operator", "dataclass": "dataclasses",
    "Decimal": "decimal", "Fraction": "fractions", "ThreadPoolExecutor": "concurrent.futures", "List": "typing",
    "Dict": "typing", "Optional": "typing", "Any": "typing", "Union": "typing", "Tuple": "typing", "Set": "typing",
    "Iterable": "typing", "Iterator": "typing", "Callable": "typing", "TypedDict": "typing", "NamedTuple": "typing",
    "Enum": "enum", "pprint": "pprint", "uuid4": "uuid", "urlencode": "urllib.parse", "combinations": "itertools",
    "product": "itertools", "Path": "pathlib", "islice": "itertools", "as_completed": "concurrent.futures",
}  # fmt: skip


def unbound_names(scopes: Scopes, tools: Toolbox) -> list[Finding]:
    """Findings for names that no scope binds: tools that do not exist, forgotten imports, misspellings.

    Of many only the first: to find what each was meant to be takes long.
    """
    if scopes.opaque:
        return []
    loose = [
        (node, scope, called)
        for node, scope, called in scopes.loads
        if not (node.id in GIVEN or node.id in tools or node in scopes.forgiven or _bound(node.id, scope))
    ]
    loose.sort(key=lambda load: (load[0].lineno, load[0].col_offset))
    return [_unbound(node, scope, tools, called=called) for node, scope, called in loose[:_MOST_UNBOUND]]


def _bound(name: str, scope: Scope) -> bool:
    current: Scope | None = scope
    while current is not None:
        if name in current.bound and (current is scope or not isinstance(current.node, ast.ClassDef)):
            return True
        current = current.parent
    return False


def _among(shown: list[str], tools: Toolbox) -> str:
    return "the tools are" if len(shown) == len(tools) else f"of {len(tools)} tools the nearest are"


def _visible(scope: Scope) -> set[str]:
    names: set[str] = set()
    current: Scope | None = scope
    while current is not None:
        names |= current.bound
        current = current.parent
    return names


def _unbound(node: ast.Name, scope: Scope, tools: Toolbox, *, called: bool) -> Finding:
    name = node.id
    if name in sys.stdlib_module_names or name in _MODULE_OF:
        line = f"from {_MODULE_OF[name]} import {name}" if name in _MODULE_OF else f"import {name}"
        return finding("undefined-name", node, f"{name!r} is not imported. Write `{line}` first.", better=line)
    own = nearest(name, _visible(scope), cutoff=0.75)
    if called:
        near = nearest(name, [*tools, *_visible(scope)])
        meant = f" Did you mean {near!r}?" if near else ""
        shown = list(tools) if len(tools) <= _FEW else (alike(name, tools, most=_FEW, cutoff=0) or list(tools)[:_FEW])
        message = f"there is no tool or function {name!r}; {_among(shown, tools)} {listed(shown)}.{meant}"
        if not tools:
            message = f"there is no function {name!r}.{meant}"
        return finding("unknown-tool", node, message, better=near)
    near = own or nearest(name, tools, cutoff=0.75)
    meant = f" Did you mean {near!r}?" if near else " Assign it before it is used."
    return finding("undefined-name", node, f"{name!r} is not defined anywhere in the program.{meant}", better=near)
