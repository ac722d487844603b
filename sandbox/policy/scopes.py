"""Which names a program binds where, so that `open` the price is told from `open` the function."""

from __future__ import annotations

import ast
from typing import Final

UNBOUND: Final = ""
"""The program binds no such name: it is a builtin, a tool, or missing."""

OBJECT: Final = "."
"""The name stands for something other than a module."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPING = frozenset((*_FUNCTIONS, *_COMPREHENSIONS, ast.Lambda, ast.ClassDef, ast.arguments))
_BINDING = frozenset(
    (
        *_FUNCTIONS, ast.ClassDef, ast.Name, ast.arg, ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping,
        ast.Global, ast.NamedExpr, ast.Import, ast.ImportFrom,
    )
)  # fmt: skip


class Scope:
    """What one module, function, class or comprehension binds: the dotted path of a module, or `OBJECT`."""

    def __init__(self, parent: Scope | None = None, kind: type[ast.AST] = ast.Module) -> None:
        self.parent, self.kind = parent, kind
        self.bound: dict[str, str] = {}

    def bind(self, name: str, path: str = OBJECT) -> None:
        """Note that `name` is bound here; a name that is bound to different things is an object."""
        self.bound[name] = path if self.bound.get(name, path) == path else OBJECT

    def lookup(self, name: str) -> str:
        """What `name` stands for when it is read here."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.bound and (scope is self or scope.kind is not ast.ClassDef):
                return scope.bound[name]
            scope = scope.parent
        return UNBOUND

    def outermost(self) -> Scope:
        """The module's scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope


class Scopes:
    """All nodes of a tree with the scope and the parent of each. Does not recurse, so no program is too deep for it."""

    def __init__(self, tree: ast.Module) -> None:
        self.of: dict[ast.AST, Scope] = {}
        self.parents: dict[ast.AST, ast.AST] = {}
        self.own: frozenset[str]
        """Every name that the program binds anywhere."""
        stack: list[tuple[ast.AST, Scope]] = [(tree, Scope())]
        while stack:
            node, scope = stack.pop()
            self.of[node] = scope
            kind = type(node)
            if kind in _BINDING:
                _bind(node, scope)
            for child in ast.iter_child_nodes(node):
                if not isinstance(child, ast.expr_context):
                    self.parents[child] = node
                    stack.append((child, scope))
            if kind in _SCOPING:
                _rescope(node, scope, stack)
        self.own = frozenset(name for scope in set(self.of.values()) for name in scope.bound)


def _rescope(node: ast.AST, scope: Scope, stack: list[tuple[ast.AST, Scope]]) -> None:
    """Give the children of `node`, which are on top of `stack`, the scopes that they are in."""
    inner, outer = Scope(scope, type(node)), scope
    outside: list[ast.AST | None] = []
    if isinstance(node, ast.arguments):
        inner, outer = scope, scope.parent or scope
        outside = [*node.defaults, *node.kw_defaults]
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        outside = [*node.decorator_list, node.returns]
    elif isinstance(node, ast.ClassDef):
        outside = [*node.decorator_list, *node.bases, *node.keywords]
    children = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr_context)]
    if children:
        stack[-len(children) :] = [(child, outer if child in outside else inner) for child in children]


def _bind(node: ast.AST, scope: Scope) -> None:
    match node:
        case ast.Name(ctx=ast.Load()):
            pass
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.MatchMapping(rest=str(name)):
            scope.bind(name)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            scope.bind(name)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            scope.bind(name)
        case ast.Global(names=names):
            for name in names:
                scope.outermost().bind(name)
        case ast.NamedExpr(target=ast.Name(id=name)):
            while scope.kind in _COMPREHENSIONS and scope.parent is not None:
                scope = scope.parent
            scope.bind(name)
        case ast.Import() | ast.ImportFrom():
            _bind_imports(node, scope)


def _bind_imports(node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            scope.bind(alias.asname or alias.name, f"{node.module}.{alias.name}")
        else:
            root = alias.name.split(".")[0]
            scope.bind(alias.asname or root, alias.name if alias.asname else root)
