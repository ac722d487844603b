"""Finds the calls of a program whose values are only awaited, never read.

A tool can be called plainly, and its call can be awaited. `rows = find(id=1)` needs the value at
once. In `await asyncio.gather(find(id=1), find(id=2))` both calls can be begun before either is
answered. Which of the two is meant depends on where the value of the call goes. This module imports
only the standard library.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

Scope = (
    ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
    | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
)  # fmt: skip
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (ast.Module, ast.ClassDef, *FUNCTIONS, *COMPREHENSIONS)

_OF_ASYNCIO = frozenset(("gather", "wait", "wait_for", "shield", "as_completed", "run"))
"""Functions of `asyncio` that take awaitables."""
_OF_LOOPS = frozenset(
    ("create_task", "ensure_future", "run_until_complete", "run_coroutine_threadsafe")
)
"""Methods of event loops and task groups that take awaitables."""
_PASSING = frozenset(("list", "tuple", "set", "dict", "reversed", "iter", "chain", "from_iterable"))
"""Functions whose results contain the items of their arguments."""
_STORING = frozenset(("append", "add", "insert", "extend", "appendleft", "setdefault", "update"))
_VIEWS = frozenset(("values", "copy", "pop", "popleft", "get"))
_CONTAINING = (
    ast.Starred, ast.List, ast.Set, ast.Dict, ast.BinOp, ast.IfExp, ast.BoolOp, *COMPREHENSIONS
)  # fmt: skip
"""Expressions that have the values of their parts, or contain them."""
_NEUTRAL_STATEMENTS = (ast.If, ast.While, ast.Assert, ast.Delete, ast.Expr)


class AwaitedValues:
    """Answers where the values of a program's expressions go.

    Args:
        tree: the program.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._parents: dict[ast.AST, ast.AST] = {}
        self._asyncio = {"asyncio"}
        self._imported: set[str] = set()
        self._shared: set[str] = set()
        self._open: set[tuple[int, str, int | None]] = set()
        self._bound: dict[ast.AST, set[str]] = {}
        self._functions: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                self._parents[child] = node
            match node:
                case ast.Import(names=names):
                    self._asyncio.update(
                        one.asname for one in names if one.name == "asyncio" and one.asname
                    )
                case ast.ImportFrom(module="asyncio", names=names):
                    self._imported.update(one.asname or one.name for one in names)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    self._functions.setdefault(name, []).append(node)
                case ast.Global(names=shared) | ast.Nonlocal(names=shared):
                    self._shared.update(shared)

    def is_awaited(self, node: ast.expr) -> bool:
        """Return True if the value of an expression goes only to places that await it."""
        return self._flow(node, None) is True

    def _flow(self, node: ast.AST, index: int | None) -> bool | None:
        """Return True if a value is only awaited, False if not, None if its use does not matter.

        `node` is an expression that has the value, or contains it as an item. If `index` is a
        number, the value is the item with this number of a tuple, or of the tuples that `node`
        contains.
        """
        parent = self._parents.get(node)
        match parent:
            case ast.Await():
                return True
            case ast.Call():
                return self._flow_of_argument(node, parent, index)
            case ast.keyword(arg=name):
                return self._flow_of_keyword(self._parents[parent], name)
            case ast.Tuple(elts=elements):
                return self._flow_of_item(node, parent, elements)
            case ast.Subscript(value=owner) if owner is node:
                return self._flow_of_subscript(parent, index)
            case ast.Attribute(attr=attribute):
                return self._flow_of_method(parent, attribute, index)
            case ast.Dict(keys=keys) if node in keys:
                return False
            case ast.BinOp(op=operator) if not isinstance(operator, ast.Add):
                return False
            case _ if isinstance(parent, _CONTAINING):
                return self._flow(parent, index)
            case ast.Compare(ops=[ast.Is() | ast.IsNot()]) | ast.UnaryOp(op=ast.Not()):
                return None
        return self._flow_of_statement(node, parent, index)

    def _flow_of_statement(
        self, node: ast.AST, parent: ast.AST | None, index: int | None
    ) -> bool | None:
        """Return the flow of a value that a statement stores or iterates, see `_flow`."""
        match parent:
            case ast.Assign(targets=targets):
                return _join([self._flow_of_target(target, index) for target in targets])
            case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
                return self._flow_of_target(target, index)
            case ast.NamedExpr(target=target):
                return _join([self._flow_of_target(target, index), self._flow(parent, index)])
            case (
                ast.For(iter=iterated, target=target)
                | ast.AsyncFor(iter=iterated, target=target)
                | ast.comprehension(iter=iterated, target=target)
            ):
                return self._flow_of_target(target, index) if iterated is node else None
        return None if isinstance(parent, _NEUTRAL_STATEMENTS) else False

    def _flow_of_item(
        self, node: ast.AST, parent: ast.Tuple, elements: list[ast.expr]
    ) -> bool | None:
        """Return the flow of an item of a tuple, see `_flow`."""
        index = next(number for number, one in enumerate(elements) if one is node)
        match self._parents.get(parent):
            case ast.Assign(targets=[ast.Tuple(elts=targets)]) if len(targets) == len(elements):
                return self._flow_of_target(targets[index], None)
        return self._flow(parent, index)

    def _flow_of_argument(self, node: ast.AST, call: ast.Call, index: int | None) -> bool | None:
        if call.func is node:
            return False
        if self._awaits(call):
            return True
        match call.func:
            case ast.Attribute(value=ast.Name() as owner, attr=name) if name in _STORING:
                return self._flow_of_name(owner, index)
            case ast.Name(id="len" | "bool"):
                return None
            case ast.Name(id="zip"):
                return self._flow(call, next(k for k, one in enumerate(call.args) if one is node))
            case ast.Name(id="enumerate"):
                return self._flow(call, 1)
            case ast.Name(id="dict") if index == 1:  # the values of a dict
                return self._flow(call, None)
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in _PASSING:
                return self._flow(call, index)
            case ast.Name(id=name):
                return self._flow_of_parameter(name, _parameter_at(node, call), index)
        return False

    def _flow_of_keyword(self, call: ast.AST, name: str | None) -> bool | None:
        match call:
            case ast.Call(func=ast.Name(id=function)) if name is not None:
                return self._flow_of_parameter(function, name, None)
        return isinstance(call, ast.Call) and self._awaits(call)

    def _flow_of_parameter(
        self, function: str, parameter: str | int | None, index: int | None
    ) -> bool | None:
        """Return the flow of a value that is passed to a function of the program.

        `parameter` is the name or the number of the parameter, or None if it is unknown.
        """
        defined = self._functions.get(function, [])
        if len(defined) != 1 or parameter is None:
            return False
        arguments = defined[0].args
        positional = [*arguments.posonlyargs, *arguments.args]
        name: str | None = None
        if isinstance(parameter, str):
            names = [one.arg for one in (*positional, *arguments.kwonlyargs)]
            name = parameter if parameter in names else None
        elif parameter < len(positional):
            name = positional[parameter].arg
        elif arguments.vararg is not None:
            name = arguments.vararg.arg
        return name is not None and self._flow_of_variable(defined[0], name, index)

    def _awaits(self, call: ast.Call) -> bool:
        """Return True if a call awaits its arguments, or lets the event loop run them."""
        match call.func:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in self._asyncio:
                return name in _OF_ASYNCIO | _OF_LOOPS
            case ast.Attribute(attr=name):
                return name in _OF_LOOPS
            case ast.Name(id=name):
                return name in self._imported and name in _OF_ASYNCIO | _OF_LOOPS
        return False

    def _flow_of_subscript(self, node: ast.Subscript, index: int | None) -> bool | None:
        if not isinstance(node.ctx, ast.Load):
            return None
        match node.slice:
            case ast.Constant(value=int() as item) if index is not None:
                return self._flow(node, None) if item == index else None
        return self._flow(node, index)

    def _flow_of_method(
        self, node: ast.Attribute, attribute: str, index: int | None
    ) -> bool | None:
        call = self._parents.get(node)
        if not isinstance(call, ast.Call) or call.func is not node:
            return False
        if attribute == "keys":
            return None
        if attribute == "items":
            return self._flow(call, 1)
        if attribute in _VIEWS:
            return self._flow(call, index)
        return None if attribute in _STORING or attribute == "clear" else False

    def _flow_of_target(self, target: ast.expr, index: int | None) -> bool | None:
        match target:
            case ast.Name():
                return self._flow_of_name(target, index)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                if index is None or index >= len(elements):
                    return _join([self._flow_of_target(one, None) for one in elements])
                return self._flow_of_target(elements[index], None)
            case ast.Subscript(value=ast.Name() as owner):
                return self._flow_of_name(owner, index)
        return False

    def _flow_of_name(self, name: ast.Name, index: int | None) -> bool | None:
        """Return the flow of a value that is stored in a variable, or in a container that it has.

        All uses of the variable count, up to the statement that replaces it by what it awaited.
        """
        scope = self._scope_of(name)
        uses = list(self._uses(scope, name.id))
        return self._flow_of_variable(scope, name.id, index, end=self._replaced_at(uses, name))

    def _flow_of_variable(
        self, scope: ast.AST, name: str, index: int | None, *, end: tuple[int, int] | None = None
    ) -> bool | None:
        """Return the flow of the value of a variable, whose uses after `end` do not count."""
        key = (id(scope), name, index)
        if name in self._shared:
            return False
        if key in self._open:
            return None
        self._open.add(key)
        try:
            uses = self._uses(scope, name)
            return _join(
                self._flow(use, index)
                for use in uses
                if isinstance(use.ctx, ast.Load) and (end is None or _place(use) < end)
            )
        finally:
            self._open.discard(key)

    def _replaced_at(self, uses: list[ast.Name], name: ast.Name) -> tuple[int, int] | None:
        """Return where `tasks = await asyncio.gather(*tasks)` ends, if it replaces a variable.

        Only a statement in the same block as the first assignment counts, because its block is
        executed from there on.
        """
        stores = [use for use in uses if isinstance(use.ctx, ast.Store)]
        block = self._parents.get(self._statement_of(stores[0])) if stores else None
        for use in stores[1:]:
            statement = self._statement_of(use)
            loads = {id(one) for one in uses if isinstance(one.ctx, ast.Load)}
            inside = list(ast.walk(statement))
            if (
                isinstance(statement, ast.Assign)
                and self._parents.get(statement) is block
                and any(isinstance(one, ast.Await) for one in inside)
                and any(id(one) in loads for one in inside)
                and _place(name) <= _place(use)
            ):
                return statement.end_lineno or 0, statement.end_col_offset or 0
        return None

    def _statement_of(self, node: ast.AST) -> ast.AST:
        while not isinstance(node, ast.stmt):
            node = self._parents[node]
        return node

    def _scope_of(self, name: ast.Name) -> ast.AST:
        """Return the function, comprehension or module in which a variable is bound."""
        node: ast.AST = name
        while (parent := self._parents.get(node)) is not None:
            node = parent
            if isinstance(node, _SCOPES) and name.id in self._names_bound_in(node):
                return node
        return node

    def _names_bound_in(self, scope: ast.AST) -> set[str]:
        if scope not in self._bound:
            arguments = getattr(scope, "args", None)
            names = {one.arg for one in ast.walk(arguments) if isinstance(one, ast.arg)} if (
                isinstance(arguments, ast.arguments)
            ) else set()  # fmt: skip
            for node in _own_nodes(scope):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    names.add(node.id)
            self._bound[scope] = names
        return self._bound[scope]

    def _uses(self, scope: ast.AST, name: str) -> Iterator[ast.Name]:
        """Yield all uses of a variable in its scope and in scopes inside it, in source order."""
        for node in ast.iter_child_nodes(scope):
            if isinstance(node, ast.Name) and node.id == name:
                yield node
            elif not isinstance(node, _SCOPES) or name not in self._names_bound_in(node):
                yield from self._uses(node, name)


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, _SCOPES):
            yield from _own_nodes(node)


def _parameter_at(node: ast.AST, call: ast.Call) -> int | None:
    """Return the number of an argument of a call. None if `*` before it hides the number."""
    before = call.args[: next((k for k, one in enumerate(call.args) if one is node), 0)]
    return None if any(isinstance(one, ast.Starred) for one in before) else len(before)


def _join(flows: Iterator[bool | None] | list[bool | None]) -> bool | None:
    """Return the flow of a value that has several uses, see `AwaitedValues._flow`."""
    found = set(flows)
    if False in found:
        return False
    return True if True in found else None


def _place(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset
