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
_PASSING = frozenset(("list", "tuple", "set", "reversed", "iter", "chain"))
"""Functions whose results contain the items of their argument."""
_STORING = frozenset(("append", "add", "insert", "extend", "appendleft", "setdefault", "update"))
_DEEPEST = 4

Path = tuple[int | None, ...]
"""Where a value is inside of another one. A number is that of an item of a tuple, None stands for
any item or value of a collection. The empty path is the value itself."""


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
        self._open: set[tuple[int, str, Path]] = set()
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
        return self._flow(node, ()) is True

    def has_awaited_items(self, node: ast.expr) -> bool:
        """Return True if the items of an iterable go only to places that await them."""
        return self._flow(node, (None,)) is True

    def _flow(self, node: ast.AST, path: Path) -> bool | None:
        """Return True if a value is only awaited, False if not, None if its use does not matter.

        The value is that of the expression `node`, or is at `path` inside of it.
        """
        parent = self._parents.get(node)
        match parent:
            case ast.Await():
                return not path  # a list cannot be awaited
            case ast.Call():
                return self._flow_of_argument(node, parent, path)
            case ast.keyword(arg=name):
                return self._flow_of_keyword(self._parents[parent], name, path)
            case ast.Subscript(value=owner) if owner is node:
                return bool(path) and self._flow_of_subscript(parent, path)
            case ast.Attribute(attr=attribute):
                return bool(path) and self._flow_of_method(parent, attribute, path)
            case ast.Compare(ops=[ast.Is() | ast.IsNot()]):
                return None
        return self._flow_of_part(node, parent, path)

    def _flow_of_part(self, node: ast.AST, parent: ast.AST | None, path: Path) -> bool | None:
        """Return the flow of a value that another expression has or contains, see `_flow`."""
        match parent:
            case ast.Tuple(elts=elements):
                return self._flow_of_item(node, parent, elements, path)
            case ast.List() | ast.Set():
                return self._flow(parent, (None, *path))
            case ast.Dict(keys=keys) | ast.DictComp(key=ast.expr() as keys):
                is_key = node in keys if isinstance(keys, list) else node is keys
                return not is_key and self._flow(parent, (None, *path))
            case _ if isinstance(parent, COMPREHENSIONS):
                return self._flow(parent, (None, *path))
            case ast.Starred():
                return bool(path) and self._flow_of_unpacked(parent, path[1:])
            case ast.BinOp(op=ast.Add()) if path:
                return self._flow(parent, path)
            case ast.IfExp(test=test) if test is not node:
                return self._flow(parent, path)
        return self._flow_of_statement(node, parent, path)

    def _flow_of_statement(self, node: ast.AST, parent: ast.AST | None, path: Path) -> bool | None:
        """Return the flow of a value that a statement stores or iterates, see `_flow`."""
        match parent:
            case ast.Assign(targets=targets):
                return _join([self._flow_of_target(target, path) for target in targets])
            case ast.AnnAssign(target=target):
                return self._flow_of_target(target, path)
            case ast.AugAssign(target=target):
                return bool(path) and self._flow_of_target(target, path)
            case ast.NamedExpr(target=target):
                return _join([self._flow_of_target(target, path), self._flow(parent, path)])
            case (
                ast.For(iter=iterated, target=target)
                | ast.AsyncFor(iter=iterated, target=target)
                | ast.comprehension(iter=iterated, target=target)
            ) if iterated is node:
                return bool(path) and self._flow_of_target(target, path[1:])
            case ast.Expr() | ast.Delete():
                return None
        # An empty list is false, but a value that is not there yet would always be true.
        return None if path and isinstance(parent, (ast.If, ast.While, ast.UnaryOp)) else False

    def _flow_of_item(
        self, node: ast.AST, parent: ast.Tuple, elements: list[ast.expr], path: Path
    ) -> bool | None:
        """Return the flow of an item of a tuple, see `_flow`."""
        number = _number_of(node, elements)
        match self._parents.get(parent):
            case ast.Assign(targets=[ast.Tuple(elts=targets)]) if len(targets) == len(elements):
                return self._flow_of_target(targets[number], path)
        return self._flow(parent, (number, *path))

    def _flow_of_unpacked(self, node: ast.Starred, path: Path) -> bool | None:
        """Return the flow of an item of `*items`. `path` is the path inside the item."""
        match self._parents.get(node):
            case ast.Call() as call:
                return self._flow_of_argument(node, call, path)
            case ast.List() | ast.Set() | ast.Tuple() as listed:
                return self._flow(listed, (None, *path))
        return False

    def _flow_of_argument(self, node: ast.AST, call: ast.Call, path: Path) -> bool | None:
        if call.func is node:
            return False
        if self._awaits(call):
            return True
        match call.func:
            case ast.Attribute(value=ast.Name() as owner, attr=name) if name in _STORING:
                is_item = name not in ("extend", "update")
                return self._flow_of_name(owner, (None, *path) if is_item else path)
            case ast.Name(id=name) if name not in self._functions:
                return bool(path) and self._flow_of_builtin(node, call, name, path)
            case ast.Name(id=name):
                return self._flow_of_parameter(name, _parameter_at(node, call), path)
        return False

    def _flow_of_builtin(self, node: ast.AST, call: ast.Call, name: str, path: Path) -> bool | None:
        """Return the flow of the items of a collection that is passed to a builtin function."""
        rest = path[1:]
        match name:
            case "len" | "bool":
                return None
            case "zip":
                return self._flow(call, (None, _number_of(node, call.args), *rest))
            case "enumerate":
                return self._flow(call, (None, 1, *rest))
            case "dict":
                return self._flow(call, (None, *rest[1:]) if rest[:1] == (1,) else path)
            case _ if name in _PASSING:
                return self._flow(call, (None, *rest))
        return False

    def _flow_of_keyword(self, call: ast.AST, name: str | None, path: Path) -> bool | None:
        match call:
            case ast.Call(func=ast.Name(id=function)) if name is not None:
                return self._flow_of_parameter(function, name, path)
        return isinstance(call, ast.Call) and self._awaits(call)

    def _flow_of_parameter(
        self, function: str, parameter: str | int | None, path: Path
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
            path = (None, *path)
        return name is not None and self._flow_of_variable(defined[0], name, path)

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

    def _flow_of_subscript(self, node: ast.Subscript, path: Path) -> bool | None:
        if not isinstance(node.ctx, ast.Load):
            return None
        if isinstance(node.slice, ast.Slice):
            return self._flow(node, (None, *path[1:]))
        match node.slice:
            case ast.Constant(value=int() as item) if path[0] is not None:
                return self._flow(node, path[1:]) if item == path[0] else None
        return self._flow(node, path[1:])

    def _flow_of_method(self, node: ast.Attribute, attribute: str, path: Path) -> bool | None:
        call = self._parents.get(node)
        if not isinstance(call, ast.Call) or call.func is not node:
            return False
        if attribute == "items":
            return self._flow(call, (None, 1, *path[1:]))
        if attribute in ("values", "copy"):
            return self._flow(call, path)
        if attribute in ("pop", "popleft", "get"):
            return self._flow(call, path[1:])
        return None if attribute in _STORING or attribute in ("keys", "clear") else False

    def _flow_of_target(self, target: ast.expr, path: Path) -> bool | None:
        match target:
            case ast.Name():
                return self._flow_of_name(target, path)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                if not path:
                    return False
                if path[0] is not None and path[0] < len(elements):
                    return self._flow_of_target(elements[path[0]], path[1:])
                return _join([self._flow_of_target(one, path[1:]) for one in elements])
            case ast.Subscript(value=ast.Name() as owner):
                return self._flow_of_name(owner, (None, *path))
        return False

    def _flow_of_name(self, name: ast.Name, path: Path) -> bool | None:
        """Return the flow of a value that is stored in a variable, or in a container that it has.

        All uses of the variable count, up to the statement that replaces it by what it awaited.
        """
        scope = self._scope_of(name)
        uses = list(self._uses(scope, name.id))
        return self._flow_of_variable(scope, name.id, path, end=self._replaced_at(uses, name))

    def _flow_of_variable(
        self, scope: ast.AST, name: str, path: Path, *, end: tuple[int, int] | None = None
    ) -> bool | None:
        """Return the flow of the value of a variable, whose uses after `end` do not count."""
        key = (id(scope), name, path)
        if name in self._shared or len(path) > _DEEPEST:
            return False
        if key in self._open:
            return None
        self._open.add(key)
        try:
            return _join(
                self._flow(use, path)
                for use in self._uses(scope, name)
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


def _number_of(node: ast.AST, items: list[ast.expr]) -> int:
    return next(number for number, one in enumerate(items) if one is node)


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
