"""Which scope binds which name."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

from atc.check.source.memo import children

_OPAQUE = {"exec", "eval", "globals", "locals", "vars", "setattr", "__import__", "compile"}

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

ScopeNode = ast.AST


@dataclass(eq=False, slots=True)
class Scope:
    """A module, function, class body or comprehension, and the names it binds."""

    node: ScopeNode
    parent: Scope | None
    bound: set[str] = field(default_factory=set)
    sites: dict[str, int] = field(default_factory=dict)
    """In how many places each of them is bound."""

    def bind(self, *names: str) -> None:
        """Note one place that binds each of these names."""
        for name in names:
            self.bound.add(name)
            self.sites[name] = self.sites.get(name, 0) + 1


@dataclass(eq=False, slots=True)
class Scopes:
    """All scopes of a program."""

    module: ast.Module
    by_node: dict[ast.AST, Scope] = field(default_factory=dict)
    loads: list[tuple[ast.Name, Scope, bool]] = field(default_factory=list)
    """Each name read, the scope it is read in, and whether it is called there."""
    shared: set[str] = field(default_factory=set)
    """Names that are `global` or `nonlocal` somewhere: their value at a point is not known."""
    fixed: set[str] = field(default_factory=set)
    """Names of functions, classes and imported modules."""
    functions: list[FunctionNode] = field(default_factory=list)
    """Functions and lambdas, in the order of the source."""
    opaque: bool = False
    """Whether names may come or go in ways that the source does not show (`exec`, `import *`)."""
    generators: set[ast.AST] = field(default_factory=set)
    """Functions with a `yield`: their bodies run when somebody iterates."""
    forgiven: set[ast.AST] = field(default_factory=set)
    """Names read inside a `try` that handles NameError."""


def read_scopes(module: ast.Module) -> Scopes:
    """The scopes of a program and every name read in them."""
    scopes = Scopes(module)
    _Reader(scopes).read()
    return scopes


_SILENT = frozenset(
    kind
    for base in (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
    for kind in (base, *base.__subclasses__())
) | {ast.Constant, ast.Pass, ast.Break, ast.Continue, ast.alias}
"""Nodes that neither bind a name nor hold another that does: half of a tree."""


class _Reader:
    """One walk over the tree that fills `Scopes`."""

    def __init__(self, scopes: Scopes) -> None:
        self.scopes = scopes
        self.scope = self._open(scopes.module, None)

    def _open(self, node: ScopeNode, parent: Scope | None) -> Scope:
        scope = self.scopes.by_node[node] = Scope(node, parent)
        return scope

    def read(self) -> None:
        for statement in self.scopes.module.body:
            self.visit(statement)

    def visit(self, node: ast.AST) -> None:
        if type(node) in _SILENT:
            return
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                self._function(node)
            case ast.ClassDef():
                self._fix(node.name)
                self._each([*node.decorator_list, *node.bases, *node.keywords])
                self._inside(node, node.body)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                self._comprehension(node)
            case ast.NamedExpr(target=ast.Name(id=name)):
                self._function_scope().bind(name)
                self.visit(node.value)
            case ast.Name():
                self._name(node, called=False)
            case ast.Call():
                self._call(node)
            case ast.Try():
                self._try(node)
            case _:
                self._simple(node)

    def _simple(self, node: ast.AST) -> None:
        match node:
            case ast.Import():
                self._fix(*(alias.asname or alias.name.split(".")[0] for alias in node.names))
            case ast.ImportFrom():
                self._fix(*(alias.asname or alias.name for alias in node.names))
                self.scopes.opaque |= any(alias.name == "*" for alias in node.names)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                self.scopes.shared.update(names)
                self.scopes.by_node[self.scopes.module].bound.update(names)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                self.scope.bind(name)
            case ast.MatchMapping(rest=str(name)):
                self.scope.bind(name)
            case ast.Yield() | ast.YieldFrom():
                self.scopes.generators.add(self._function_scope().node)
            case ast.AnnAssign(target=ast.Name(), annotation=annotation):
                self._annotated(node, annotation)
                return
        self._each(children(node))

    def _fix(self, *names: str) -> None:
        self.scope.bind(*names)
        self.scopes.fixed.update(names)

    def _annotated(self, node: ast.AnnAssign, annotation: ast.expr) -> None:
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)
        if isinstance(self.scope.node, ast.Module | ast.ClassDef):
            self._annotation(annotation)

    def _annotation(self, annotation: ast.expr | None) -> None:
        # From 3.14 on annotations are not evaluated; nor are they under the future import.
        if annotation is not None and sys.version_info < (3, 14) and not _postponed(self.scopes.module):
            self.visit(annotation)

    def _each(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def _inside(self, node: ScopeNode, body: list[ast.stmt] | list[ast.expr]) -> None:
        outer, self.scope = self.scope, self.scopes.by_node.get(node) or self._open(node, self.scope)
        for part in body:
            self.visit(part)
        self.scope = outer

    def _function(self, node: FunctionNode) -> None:
        self.scopes.functions.append(node)
        arguments = node.args
        self._each([*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)])
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
        inner = self._open(node, self.scope)
        inner.bind(*(argument.arg for argument in every))
        if isinstance(node, ast.Lambda):
            self._inside(node, [node.body])
            return
        self._fix(node.name)
        self._each(node.decorator_list)
        for annotation in [*(argument.annotation for argument in every), node.returns]:
            self._annotation(annotation)
        inner.bind(*(parameter.name for parameter in getattr(node, "type_params", ())))
        self._inside(node, node.body)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        self.visit(node.generators[0].iter)
        inner = self._open(node, self.scope)
        outer, self.scope = self.scope, inner
        for index, generator in enumerate(node.generators):
            if index:
                self.visit(generator.iter)
            self.visit(generator.target)
            self._each(generator.ifs)
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._each(results)
        self.scope = outer

    def _function_scope(self) -> Scope:
        scope = self.scope
        while scope.parent is not None and isinstance(
            scope.node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
        ):
            scope = scope.parent
        return scope

    def _name(self, node: ast.Name, *, called: bool) -> None:
        if isinstance(node.ctx, ast.Load):
            self.scopes.loads.append((node, self.scope, called))
            self.scopes.opaque |= node.id in _OPAQUE
        else:
            self.scope.bind(node.id)

    def _call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name):
            self._name(node.func, called=True)
        else:
            self.visit(node.func)
        self._each([*node.args, *node.keywords])

    def _try(self, node: ast.Try) -> None:
        before = len(self.scopes.loads)
        for statement in node.body:
            self.visit(statement)
        if any("NameError" in caught(handler) for handler in node.handlers):
            self.scopes.forgiven.update(name for name, _, _ in self.scopes.loads[before:])
        for part in [*node.handlers, *node.orelse, *node.finalbody]:
            self.visit(part)


def _postponed(module: ast.Module) -> bool:
    return any(
        isinstance(node, ast.ImportFrom) and node.module == "__future__" and node.names[0].name == "annotations"
        for node in module.body[:3]
    )


def caught(handler: ast.ExceptHandler) -> set[str]:
    """The names of the exceptions that a handler names; `BaseException` for a bare one."""
    if handler.type is None:
        return {"BaseException"}
    listed_types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {part.id if isinstance(part, ast.Name) else getattr(part, "attr", "?") for part in listed_types}
