"""Findings about names: unbound names, overwritten tools, and programs without output."""

from __future__ import annotations

import ast
import builtins
import sys
from collections import defaultdict

from atc.core.answer_print import PRINT_ANSWER
from atc.core.messages import find_nearest, format_expression, format_list, make_finding, may_guess
from atc.core.types import Finding
from atc.pipeline.check.syntax import (
    FunctionNode,
    bound_names,
    names_bound_by,
    own_nodes,
    parameters,
    walk_nodes,
)
from protocols.effects import may_be_meant
from protocols.naming import closest_meanings
from protocols.tool import Tool
from protocols.toolbox import Toolbox

PREDEFINED_NAMES = frozenset(dir(builtins)) | {
    "ToolError", "File", "look", "pages", "with_headers", "__name__", "__file__", "__doc__",
    "__builtins__", "__spec__", "__annotations__",
    "__package__", "__loader__", "__class__", "__module__", "__qualname__", "reveal_type",
}  # fmt: skip
"""Names that are available to every program in addition to its tools."""

_MOST_SIMILAR = 40
"""Maximum number of tools among which the one is searched that an unknown name means."""
_FEW = 8
"""Maximum number of tools that a message lists.

If there are more tools, only those with the most similar names are listed.
"""

_NAMES_BY_MODULE = {
    "collections": "Counter defaultdict OrderedDict deque namedtuple",
    "datetime": "datetime timedelta date timezone",
    "time": "sleep",
    "math": "sqrt ceil floor",
    "statistics": "mean median stdev",
    "itertools": "groupby chain combinations product islice",
    "functools": "reduce partial lru_cache",
    "operator": "itemgetter",
    "dataclasses": "dataclass",
    "decimal": "Decimal",
    "fractions": "Fraction",
    "concurrent.futures": "ThreadPoolExecutor as_completed",
    "typing": (
        "List Dict Optional Any Union Tuple Set Iterable Iterator Callable TypedDict NamedTuple"
    ),
    "enum": "Enum",
    "pprint": "pprint",
    "uuid": "uuid4",
    "urllib.parse": "urlencode",
    "pathlib": "Path",
}
_MODULE_OF = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names.split()}
"""Names that programs often use without importing them, each with its module."""


def explain_unbound_name(
    node: ast.Name, scopes: list[ast.AST], tools: Toolbox, *, called: bool
) -> Finding:
    """Build the finding for a name that the program uses but never binds.

    The name is an unknown tool, a forgotten import or a misspelling. `scopes` are the scopes that
    enclose the name. `called` is True if the name is called as a function.
    """
    name = node.id
    if name in sys.stdlib_module_names or name in _MODULE_OF:
        line = f"from {_MODULE_OF[name]} import {name}" if name in _MODULE_OF else f"import {name}"
        return make_finding(
            "undefined-name", node, f"{name!r} is not imported. Write `{line}` first.", better=line
        )
    names = [bound_names(scope) for scope in scopes]
    variables = sorted(set().union(*names)) if may_guess(sum(map(len, names))) else []
    if called:
        return _explain_unknown_function(node, variables, tools)
    near = find_nearest(name, variables, cutoff=0.75) or find_nearest(name, tools, cutoff=0.75)
    meant = f" Did you mean {near!r}?" if near else " Assign it before it is used."
    message = f"{name!r} is not defined anywhere in the program.{meant}"
    return make_finding("undefined-name", node, message, better=near)


def _explain_unknown_function(node: ast.Name, variables: list[str], tools: Toolbox) -> Finding:
    """Build the finding for a call of an unknown function.

    Its message lists tools with similar names.
    """
    name = node.id
    # `loose=False`: do not suggest a variable whose name is only a part of `name`.
    similar = list(tools)
    if len(similar) > _MOST_SIMILAR:
        is_guess = may_guess(len(similar))
        close = closest_meanings(name, similar, most=_MOST_SIMILAR, cutoff=0) if is_guess else []
        similar = close or similar[:_MOST_SIMILAR]
    fitting = [alias for alias in similar if may_be_meant(name, tools[alias].protocol)]
    near = find_nearest(name, fitting) or find_nearest(name, variables, loose=False)
    meant = f" Did you mean {near!r}?" if near else ""
    shown = fitting[:_FEW]
    if len(fitting) > _FEW and may_guess(len(fitting)):
        shown = closest_meanings(name, fitting, most=_FEW, cutoff=0) or shown
    if len(shown) == len(tools):
        listed = "the tools are"
    elif len(shown) == len(fitting) and len(similar) == len(tools):
        listed = "the tools that may read are"
    else:
        listed = f"of {len(tools)} tools the nearest are"
    message = f"there is no tool or function {name!r}; {listed} {format_list(shown)}.{meant}"
    if not fitting:
        message = f"there is no function {name!r}.{meant}"
    return make_finding("unknown-tool", node, message, better=near)


def shadowed_tools(module: ast.Module, nodes: list[ast.AST], tools: Toolbox) -> list[Finding]:
    """Return a finding for each tool whose name the program uses for something else.

    It defines a function of this name, for example. Such a use is not reported if it seems to be
    deliberate, or if it is local to a function that does not call the tool.
    """
    found: list[Finding] = []
    for scope in nodes:
        if not isinstance(scope, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        taken = sorted(bound_names(scope) & tools.keys())
        if not taken:
            continue
        uses = NameUses(nodes if scope is module else walk_nodes(scope))
        for name in taken:
            calls = uses.calls[name]
            node = uses.binding.get(name)
            if node is None or (scope is module and _is_deliberate(uses, tools[name], node)):
                continue
            is_parameter = isinstance(scope, FunctionNode) and name in parameters(scope)
            if scope is module or (calls and not is_parameter):
                found.append(_explain_shadowing(name, node))
    return found


class NameUses:
    """The uses of names in a program.

    For each name, these are its calls, all its uses, and the first node that binds it.
    """

    def __init__(self, nodes: list[ast.AST]) -> None:
        self.calls: defaultdict[str, list[ast.Call]] = defaultdict(list)
        self.names: defaultdict[str, list[ast.Name]] = defaultdict(list)
        self.binding: dict[str, ast.AST] = {}
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                self.calls[node.func.id].append(node)
            if isinstance(node, ast.Name):
                self.names[node.id].append(node)
            for name in names_bound_by(node):
                self.binding.setdefault(name, node)


def _is_deliberate(uses: NameUses, tool: Tool, node: ast.AST) -> bool:
    """Return True if the program seems to give a tool's name another meaning on purpose.

    This is so if it wraps the tool, as in `tool = cache(tool)`, or if it evidently does not mean
    the tool, as in an import from the standard library.
    """
    calls = uses.calls[tool.alias]
    callees = {call.func for call in calls}
    passed = [use for use in uses.names[tool.alias] if use not in callees and use is not node]
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            wraps = any(use.lineno < node.lineno for use in passed)
            return wraps or _is_unrelated_function(node, tool)
        case ast.Name():  # `tool = cache(tool)`
            return not calls or any(use.lineno == node.lineno for use in passed)
        case ast.ImportFrom(module=str(module)) if module.split(".")[0] in sys.stdlib_module_names:
            return not _pass_arguments(calls, tool)
        case _:
            return False


def _pass_arguments(calls: list[ast.Call], tool: Tool) -> bool:
    """Return True if one of the calls passes an argument of the tool by name, or passes `**`."""
    names = [keyword.arg for call in calls for keyword in call.keywords]
    return any(name is None or name in tool.arguments for name in names)


def _is_unrelated_function(node: ast.FunctionDef | ast.AsyncFunctionDef, tool: Tool) -> bool:
    """Return True if a function that has a tool's name evidently does something else.

    It has parameters, but none of them is an argument of the tool. The result is False for a
    function without a real body (only `pass`, `raise`, text or `...`), because it is a stub for the
    tool.
    """
    names = set(parameters(node))
    is_stub = all(
        isinstance(s, ast.Pass | ast.Raise) or format_expression(s)[:1] in '\'"."'
        for s in node.body
    )
    related = names & {*tool.arguments, *tool.arguments.values()}
    return bool(names) and not related and not is_stub


def _explain_shadowing(name: str, node: ast.AST) -> Finding:
    better = None
    then = "Leave it out: the tool is there already."
    if isinstance(node, ast.Name):
        what = "assignment"
        better = f"{name}_result"
        then = "Use another name for the value."
    else:
        what = "import" if hasattr(node, "names") else "definition"
    message = f"{name!r} is a tool, and this {what} replaces it. {then}"
    return make_finding("tool-reassigned", node, message, tool=name, better=better)


_WRITERS = {
    "print",
    "pprint",
    "pp",
    "display",
    "exec",
    "eval",
    "write",
    "writelines",
    "print_exc",
    "info",
    "dump",
    "look",
}
_WRITERS |= {PRINT_ANSWER}


def output_findings(module: ast.Module, nodes: list[ast.AST]) -> list[Finding]:
    """Return a finding if the program prints and returns nothing, and ends in no expression."""
    body = module.body
    if not body:
        return [
            make_finding(
                "no-output",
                module,
                "the program is empty. Write one that calls tools and prints the answer.",
            )
        ]
    if any(isinstance(node, ast.Return) and node.value is not None for node in own_nodes(module)):
        return []
    for node in nodes:
        match node:
            case ast.Call(func=ast.Attribute(attr=name)) | ast.Name(id=name) if name in _WRITERS:
                return []
    last = body[-1]
    text = (
        isinstance(last, ast.Expr)
        and isinstance(last.value, ast.Constant)
        and isinstance(last.value.value, str)
    )
    # A program that is only a docstring gives no answer.
    if isinstance(last, ast.Expr) and not (text and len(body) == 1):
        return []
    match last:
        case (
            ast.Assign(targets=[ast.Name() as target]) | ast.AugAssign(target=ast.Name() as target)
        ):
            better = f"print({format_expression(target)})"
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            better = f"print({name}())"
        case _:
            better = "print(…)"
    message = (
        "the program gives no answer: it prints nothing and does not end in an expression. End with"
        f" {better}."
    )
    return [make_finding("no-output", last, message, better=better)]
