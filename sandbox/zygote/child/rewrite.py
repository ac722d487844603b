"""Rewrites a program so that its tool calls can be awaited, and run side by side.

A program may treat tools as plain functions, as coroutine functions, or as functions to give to
threads. These rules make each of them right (`pairs` has the functions that the new code calls):

- A call whose value is only awaited (`awaited`) becomes a coroutine, which is begun later.
- A plain call inside `async def` is awaited, so that other tasks can go on meanwhile.
- A function that calls tools gets a coroutine function that does the same. Thread pools and
  `asyncio.to_thread` run that one.
- `await value` is the value, if it is no awaitable.

Every new node has the position of the node that it replaces, so that line and column numbers of
errors and calls stay right. This module imports only the standard library and other modules of the
sandbox.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Collection, Iterator
from typing import Any

from sandbox.awaited import FUNCTIONS, AwaitedValues

PAIR = "<pair>"
"""Attribute in which a function has its coroutine function. A program cannot write such names."""
HELPERS = ("<later>", "<now>", "<awaitable>", "<pair>", "<pair lambda>")
"""Names of the functions of `pairs` in a rewritten program."""

_WORDS = re.compile(r"async|await|Executor|ThreadPool|futures")
_DEEPEST = 3
"""Maximum number of enclosing functions of a function that gets a coroutine function.

Each level doubles the code."""
_HARMLESS = frozenset(
    ("suppress", "closing", "nullcontext", "ThreadPoolExecutor", "catch_warnings")
)
"""Context managers that hold nothing which other functions of the program may wait for."""
_EXHAUSTING = frozenset(
    ("list", "tuple", "set", "frozenset", "sorted", "sum", "min", "max", "dict", "join")
)
"""Functions that read all items of a generator before they return."""


def is_concurrent(source: str) -> bool:
    """Return True if a program may await something or use threads, so that it is rewritten."""
    return _WORDS.search(source) is not None


def is_tool(value: object) -> bool:
    """Return True for a tool, also for a saved one that has a coroutine function."""
    return hasattr(value, "tool_alias") or hasattr(value, PAIR)


def rewrite(tree: ast.Module, tools: Collection[str]) -> ast.Module:
    """Return the rewritten program. `tree` is changed. `tools` are the names of the tools."""
    _mark(tree, tools)
    rewriter = _Rewriter()
    rewriter.enter(tree)
    return tree


def _mark(tree: ast.Module, tools: Collection[str]) -> None:
    """Note in each call and function how it is rewritten. Copies of the nodes have the notes, too.

    They are noted before anything is rewritten, because they depend on the rest of the program.
    """
    callers = _Callers(tree, tools)
    awaited = AwaitedValues(tree)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            _note(node, "has_pair", node in callers and _can_be_paired(node))
        if isinstance(node, FUNCTIONS):
            for call in _own_calls(node):
                _note(call, "is_caller", callers.is_caller(call, node))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            is_caller = _noted(node, "is_caller") or callers.is_caller(node, None)
            _note(node, "is_caller", is_caller)
            if is_caller:
                _note(node, "is_awaited", awaited.is_awaited(node))
            elif _is_map(node):
                _note(node, "is_awaited", awaited.has_awaited_items(node))


class _Callers:
    """The functions of a program that call tools, directly or through each other, by name."""

    def __init__(self, tree: ast.Module, tools: Collection[str]) -> None:
        self._tools = frozenset(tools)
        self._names: set[str] = set()
        self._nodes: set[ast.AST] = set()
        functions = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
        named: dict[ast.AST, str] = {
            node: node.name for node in functions if isinstance(node, ast.FunctionDef)
        }
        for node in ast.walk(tree):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as function):
                    named[function] = name
        calls = {node: _own_calls(node) for node in functions}
        before = -1
        while before != len(self._nodes):
            before = len(self._nodes)
            for node in functions:
                if node not in self._nodes and any(
                    self.is_caller(one, node) for one in calls[node]
                ):
                    self._nodes.add(node)
                    self._names.update([named[node]] if node in named else [])

    def __contains__(self, node: ast.AST) -> bool:
        return node in self._nodes

    def is_caller(self, call: ast.Call, function: ast.AST | None) -> bool:
        """Return True if a call may make a tool call. `function` is the function that has it."""
        match call.func:
            case ast.Name(id=name):
                return name in self._tools or name in self._names or name in _parameters(function)
            case ast.Attribute(attr=name):
                return name in self._names
        return False


class _Rewriter(ast.NodeTransformer):
    """Rewrites one scope after the other.

    `_is_async` is True in code that may await. `_held` is the number of enclosing parts of this
    code in which plain calls must stay plain. `_depth` is the number of enclosing functions.
    """

    def __init__(self) -> None:
        self._is_async = False
        self._is_lambda = False
        self._held = 0
        self._depth = 0

    def enter(self, tree: ast.Module) -> None:
        """Rewrite a whole program."""
        self._is_async = any(_awaits(node) for node in _own_nodes(tree))
        tree.body = self._visit_all(tree.body)

    # Calls.

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Rewrite a call that may make a tool call."""
        self._unfold_generator(node)
        self.generic_visit(node)
        if _noted(node, "is_awaited"):
            if _noted(node, "is_caller"):
                node.func = _helper("<later>", node.func)
            else:
                node.args[0] = _helper("<later>", node.args[0])
        elif _noted(node, "is_caller") and self._is_async and not self._held:
            node.func = _helper("<now>", node.func)
            return ast.copy_location(ast.Await(node), node)
        return node

    def visit_Await(self, node: ast.Await) -> ast.AST:
        """Let an `await` accept a value that is there already."""
        self.generic_visit(node)
        if not _is_of_asyncio(node.value):
            node.value = _helper("<awaitable>", node.value)
        return node

    def _unfold_generator(self, node: ast.Call) -> None:
        """Turn the generator in `sum(… for …)` into a list, in which calls can be awaited."""
        if not self._is_async or self._held:
            return
        match node:
            case ast.Call(
                func=ast.Name(id=name) | ast.Attribute(attr=name),
                args=[ast.GeneratorExp() as items],
            ) if name in _EXHAUSTING:
                node.args = [ast.copy_location(ast.ListComp(items.elt, items.generators), items)]

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        """Let `total += find(id=1)` read `total` after the call, because others may change it."""
        self.generic_visit(node)
        own = _own_nodes(ast.Expression(node.value))
        if not self._is_async or not any(isinstance(one, ast.Await) for one in own):
            return node
        stored = ast.copy_location(ast.Name("<value>", ast.Store()), node.value)
        value = ast.copy_location(ast.Assign([stored], node.value), node)
        node.value = ast.copy_location(ast.Name("<value>", ast.Load()), node.value)
        return [value, node]

    # Parts in which a call cannot be awaited, or must not be.

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        """Rewrite a generator, whose items are computed at an unknown time."""
        return self._visit_held(node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        """Rewrite a list comprehension. Python allows no `await` in one of a lambda."""
        return self._visit_held(node) if self._is_lambda else self.generic_visit(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        """Rewrite a set comprehension, like one of a list."""
        return self._visit_held(node) if self._is_lambda else self.generic_visit(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        """Rewrite a dict comprehension, like one of a list."""
        return self._visit_held(node) if self._is_lambda else self.generic_visit(node)

    def visit_With(self, node: ast.With) -> ast.AST:
        """Rewrite a `with` statement, whose body may hold a lock of threads."""
        node.items = [self.visit(item) for item in node.items]
        is_held = not all(_is_harmless(item.context_expr) for item in node.items)
        self._held += is_held
        node.body = self._visit_all(node.body)
        self._held -= is_held
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Rewrite a class: its methods, but not the statements between them."""
        return self._visit_held(node)

    def _visit_held(self, node: ast.AST) -> ast.AST:
        self._held += 1
        self.generic_visit(node)
        self._held -= 1
        return node

    # Functions.

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        """Rewrite a coroutine function."""
        self._visit_signature(node)
        self._visit_body(node, is_async=True)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | list[ast.stmt]:
        """Rewrite a function, and put its coroutine function before it if it has one."""
        has_pair = _noted(node, "has_pair") and self._depth < _DEEPEST
        twin = _coroutine_function(node) if has_pair else None
        self._visit_signature(node)
        self._visit_body(node, is_async=False)
        if twin is None:
            return node
        self._visit_body(twin, is_async=True)
        name = ast.copy_location(ast.Name(node.name, ast.Load()), node)
        node.decorator_list = [_helper("<pair>", name)]
        return [twin, node]

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """Rewrite a lambda, and give it its coroutine function if it has one.

        Python has no asynchronous lambdas. It is a lambda that returns an asynchronous generator
        of one value.
        """
        has_pair = _noted(node, "has_pair") and self._depth < _DEEPEST
        twin = copy.deepcopy(node) if has_pair else None
        self._visit_signature(node)
        self._visit_body(node, is_async=False)
        if twin is None:
            return node
        self._visit_body(twin, is_async=True)
        if not any(isinstance(one, ast.Await) for one in ast.walk(twin.body)):
            return node
        _drop_defaults(twin.args)
        items = ast.Tuple([ast.Constant(None)], ast.Load())
        once = ast.comprehension(ast.Name("<once>", ast.Store()), items, [], 0)
        for part in ast.walk(once):
            ast.copy_location(part, node.body)
        twin.body = ast.copy_location(ast.GeneratorExp(twin.body, [once]), node.body)
        call = _helper("<pair lambda>", node)
        call.args.append(twin)
        return call

    def _visit_signature(self, node: Any) -> None:
        """Rewrite what is evaluated when a function is defined."""
        node.args = self.visit(node.args)
        if not isinstance(node, ast.Lambda):
            node.decorator_list = [self.visit(one) for one in node.decorator_list]

    def _visit_body(self, node: Any, *, is_async: bool) -> None:
        outer = (self._is_async, self._is_lambda, self._held)
        self._is_async = is_async
        self._is_lambda = isinstance(node, ast.Lambda)
        self._held = 0
        self._depth += 1
        node.body = self.visit(node.body) if self._is_lambda else self._visit_all(node.body)
        self._depth -= 1
        self._is_async, self._is_lambda, self._held = outer

    def _visit_all(self, body: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in body:
            new = self.visit(statement)
            found += new if isinstance(new, list) else [new]
        return found


def _coroutine_function(node: ast.FunctionDef) -> ast.AsyncFunctionDef:
    """Return a copy of a function as a coroutine function. It gets the same defaults later."""
    shape = copy.deepcopy(node)
    twin = ast.AsyncFunctionDef(
        **{**dict(ast.iter_fields(shape)), "decorator_list": [], "returns": None}
    )
    _drop_defaults(twin.args)
    return ast.copy_location(twin, node)


def _drop_defaults(arguments: ast.arguments) -> None:
    """Remove annotations and values of defaults, so that they are not evaluated twice."""
    for one in ast.walk(arguments):
        if isinstance(one, ast.arg):
            one.annotation = None
    arguments.defaults = [_none_at(one) for one in arguments.defaults]
    arguments.kw_defaults = [one and _none_at(one) for one in arguments.kw_defaults]


def _none_at(node: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Constant(None), node)


def _helper(name: str, argument: ast.expr) -> ast.Call:
    """Return a call of a function of `pairs`, at the position of its argument."""
    function = ast.copy_location(ast.Name(name, ast.Load()), argument)
    return ast.copy_location(ast.Call(function, [argument], []), argument)


def _can_be_paired(node: ast.FunctionDef | ast.Lambda) -> bool:
    """Return True if a function can be suspended: it is no generator, and holds no lock."""
    own = list(_own_nodes(node))
    return (
        not any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in own)
        and not any(isinstance(one, ast.Attribute) and one.attr == "acquire" for one in own)
        and not getattr(node, "decorator_list", [])
    )


def _own_calls(function: ast.AST) -> list[ast.Call]:
    return [node for node in _own_nodes(function) if isinstance(node, ast.Call)]


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes in the body of a function or module, without those of inner functions."""
    body = getattr(scope, "body", [])
    waiting = list(body) if isinstance(body, list) else [body]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, FUNCTIONS):
            waiting += ast.iter_child_nodes(node)


def _parameters(function: ast.AST | None) -> set[str]:
    arguments = getattr(function, "args", None)
    if not isinstance(arguments, ast.arguments):
        return set()
    return {one.arg for one in ast.walk(arguments) if isinstance(one, ast.arg)}


def _awaits(node: ast.AST) -> bool:
    is_comprehension = isinstance(node, ast.comprehension) and node.is_async
    return isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith)) or bool(is_comprehension)


def _is_map(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == "map" and len(node.args) > 1


def _is_harmless(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _HARMLESS
    return False


def _is_of_asyncio(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="asyncio"))):
            return True
    return False


def _note(node: ast.AST, name: str, value: object) -> None:
    node.__dict__[f"<{name}>"] = value


def _noted(node: ast.AST, name: str) -> bool:
    return bool(node.__dict__.get(f"<{name}>"))
