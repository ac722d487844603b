"""The syntax tree of a program: parsing, the names that each scope binds, and facts about nodes."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from atc.core.messages import make_finding
from atc.core.program import Program, ProgramTooLong
from atc.core.types import Finding
from atc.pipeline.check.budget import current_budget, spend
from protocols import python_source
from sandbox.returns import compile_returning

T = TypeVar("T")
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_CHILDREN = f"{__name__}.children"
_MARKS = frozenset(
    kind
    for base in (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
    for kind in (base, *base.__subclasses__())
)
"""Types of syntax nodes without content, such as operators. They make up half of a tree."""


def children(node: ast.AST) -> list[ast.AST]:
    """Return the child nodes of a syntax node, without operators and contexts.

    The list is cached in the node, because the check visits the nodes of a loop several times.
    """
    kept = node.__dict__
    found: list[ast.AST] | None = kept.get(_CHILDREN)
    if found is None:
        found = []
        for name in node._fields:
            value = kept.get(name)
            if isinstance(value, list):
                found += [part for part in value if isinstance(part, ast.AST)]
            elif isinstance(value, ast.AST) and type(value) not in _MARKS:
                found.append(value)
        kept[_CHILDREN] = found
    return found


def once_per_check(node: ast.AST, name: str, compute: Callable[[ast.AST], T]) -> T:
    """Return `compute(node)`. The result is cached in the node during the current check.

    A result of an earlier check of the same tree is not used: its work was not charged to the
    budget of the current check, and so findings would depend on which checks ran before.
    """
    budget = current_budget()
    kept = node.__dict__.get(name)
    if kept is None or (kept[0] is not None and kept[0] is not budget):
        kept = node.__dict__[name] = (budget, compute(node))
    found: T = kept[1]
    return found


def walk_nodes(node: ast.AST) -> list[ast.AST]:
    """Return the node and all its descendants, in the order of `ast.walk`."""
    found = [node]
    for part in found:
        found += children(part)
    spend(2 * len(found))
    return found


def parse_or_report(program: Program) -> ast.Module | Finding:
    """Return the program's syntax tree, or a finding if it cannot be parsed or compiled."""
    error = program.parse_error or _compile_error(program.tree)
    match error:
        case None:
            return program.tree
        case SyntaxError():
            return _syntax_error(error, program)
        case RecursionError() | MemoryError():
            message = "the program is nested too deeply to be read."
        case ProgramTooLong():
            message = f"the program is too long: {error}. Read large data with a tool."
        case _:
            message = f"this is not Python: {error}."
    return Finding(code="syntax", message=message, line=1, end_column=1)


def _compile_error(tree: ast.Module) -> Exception | None:
    """Return the error with which Python's compiler rejects the program, or None.

    Only the compiler detects errors such as a `break` outside a loop. A repeated keyword is not
    returned here, because `find_repeated_keywords` reports it. A `return` outside a function is
    right: it ends the program, and its value is the answer.
    """
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        with python_source.suppress_syntax_warnings():
            try:
                compile(tree, "<program>", "exec", flags=flags, dont_inherit=True)
            except SyntaxError:
                if not any(isinstance(node, ast.Return) for node in own_nodes(tree)):
                    raise
                compile_returning(copy.deepcopy(tree), "<program>")
    except SyntaxError as error:
        return None if (error.msg or "").startswith("keyword argument repeated") else error
    except (ValueError, OverflowError, RecursionError, MemoryError) as error:
        return error
    return None


def _syntax_error(error: SyntaxError, program: Program) -> Finding:
    line = error.lineno or 1
    column = max(0, (error.offset or 1) - 1)
    end = (error.end_offset or 0) - 1 if error.end_lineno == error.lineno else 0
    advice = ""
    reason = (error.msg or "invalid syntax").rstrip(".")
    if program.line(error.lineno).startswith("```"):
        advice = " Write the program alone, without Markdown fences."
    message = f"syntax error: {reason}.{advice}"
    return Finding(
        code="syntax", message=message, line=line, column=column, end_column=max(end, column + 1)
    )


def find_repeated_keywords(nodes: Iterable[ast.AST]) -> list[Finding]:
    """Return a finding for every keyword argument that a call passes twice."""
    found = []
    for node in nodes:
        seen: set[str] = set()
        for keyword in node.keywords if isinstance(node, ast.Call) else ():
            if keyword.arg is not None and keyword.arg in seen:
                tool = (
                    node.func.id
                    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
                    else None
                )
                message = f"argument {keyword.arg!r} is given twice in this call. Keep one of them."
                found.append(
                    make_finding(
                        "doubled-argument", keyword, message, tool=tool, argument=keyword.arg
                    )
                )
            seen.add(keyword.arg or "")
    return found


_OPAQUE = {"*", "exec", "eval", "globals", "locals", "vars", "setattr", "__import__", "compile"}
_BOUND = f"{__name__}.bound"
_STORED = f"{__name__}.stored"
_INNER = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


def bound_names(scope: ast.AST) -> set[str]:
    """Return the names that a module, function or class body binds in its own scope."""
    return once_per_check(scope, _BOUND, _find_bound_names)


def _find_bound_names(scope: ast.AST) -> set[str]:
    found = set(parameters(scope)) if isinstance(scope, FunctionNode) else set()
    for node in own_nodes(scope):
        found.update(names_bound_by(node))
    return found


def times_stored(scope: ast.AST) -> Counter[str]:
    """Return how often each name is assigned in a scope, including the scopes inside it."""
    return once_per_check(scope, _STORED, _count_stores)


def _count_stores(scope: ast.AST) -> Counter[str]:
    stores = (
        n for n in walk_nodes(scope) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    )
    return Counter(node.id for node in stores)


def names_bound_by(node: ast.AST) -> list[str]:
    """Return the names that a single statement, target or pattern binds."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return [name]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case (
            ast.ExceptHandler(name=str(name))
            | ast.MatchAs(name=str(name))
            | ast.MatchStar(name=str(name))
        ):
            return [name]
        case ast.MatchMapping(rest=str(name)):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [alias.asname or alias.name.split(".")[0] for alias in names]
        case _:
            return []


def own_nodes(scope: ast.AST) -> list[ast.AST]:
    """Return the syntax nodes of a function, class or module without those of inner scopes.

    Of a comprehension, only the `:=` expressions are included, because they bind names in this
    scope.
    """
    body = getattr(scope, "body", [])
    waiting = list(body) if isinstance(body, list) else [body]
    found: list[ast.AST] = []
    while waiting:
        node = waiting.pop()
        found.append(node)
        if isinstance(node, _INNER):
            waiting += [part for part in walk_nodes(node) if isinstance(part, ast.NamedExpr)]
        elif not isinstance(node, FunctionNode | ast.ClassDef):
            waiting += children(node)
    spend(2 * len(found))
    return found


def parameters(node: FunctionNode) -> list[str]:
    """Return the names of a function's parameters."""
    parts = children(node.args)
    spend(len(parts))
    return [part.arg for part in parts if isinstance(part, ast.arg)]


def is_deferred(node: FunctionNode) -> bool:
    """Return True for a coroutine or generator function, whose body a call does not execute yet."""
    return isinstance(node, ast.AsyncFunctionDef) or has_yield(node)


def has_yield(node: FunctionNode) -> bool:
    """Return True for a generator function, also if it is asynchronous."""
    return any(isinstance(part, ast.Yield | ast.YieldFrom) for part in own_nodes(node))


def caught_exceptions(handler: ast.ExceptHandler) -> set[str]:
    """Return the names of the exceptions that a handler catches.

    A bare `except` catches `BaseException`.
    """
    if handler.type is None:
        return {"BaseException"}
    listed_types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {
        part.id if isinstance(part, ast.Name) else getattr(part, "attr", "?")
        for part in listed_types
    }


_MUTATING = {
    "append",
    "add",
    "insert",
    "extend",
    "update",
    "setdefault",
    "pop",
    "popitem",
    "clear",
    "remove",
    "sort",
}


def find_outer_changes(function: FunctionNode) -> set[str]:
    """Return the variables of enclosing scopes whose values a function modifies in place.

    The function assigns to an item of such a value, or calls a method such as `append`.
    """
    found: set[str] = set()
    for node in walk_nodes(function):
        match node:
            case ast.Subscript(ctx=ast.Store() | ast.Del(), value=ast.Name(id=name)):
                found.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if (
                method in _MUTATING
            ):
                found.add(name)
    return found - bound_names(function)


@dataclass(frozen=True, slots=True)
class SyntaxFacts:
    """Facts that the syntax of a whole program shows.

    It is collected once, before the check follows the values of the program.
    """

    functions: list[FunctionNode] = field(default_factory=list)
    """All functions and lambdas of the program."""
    shared: set[str] = field(default_factory=set)
    """Names that the program declares `global` or `nonlocal`. Their values are unknown."""
    opaque: list[ast.AST] = field(default_factory=list)
    """Nodes that may bind or remove names invisibly (`exec`, `import *`)."""
    tolerated: set[ast.AST] = field(default_factory=set)
    """`.get()` calls that test whether a key exists.

    They are in conditions, and in all operands of `and` or `or` except the last.
    """
    alternative: set[ast.AST] = field(default_factory=set)
    """Comparisons inside an `or` or an `elif` chain, where it is no error if one is never true."""
    stored: set[str] = field(default_factory=set)
    """Constant keys to which the program assigns a value in any dict."""


def collect_syntax_facts(nodes: list[ast.AST]) -> SyntaxFacts:
    """Return what the syntax of a program shows. `nodes` are all syntax nodes of the program."""
    hints = SyntaxFacts(functions=[node for node in nodes if isinstance(node, FunctionNode)])
    for node in nodes:
        match node:
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                hints.shared.update(names)
            case ast.Name(id=name) | ast.alias(name=name) if name in _OPAQUE:
                hints.opaque.append(node)
            case ast.Subscript(slice=ast.Constant(value=str(key)), ctx=ast.Store() | ast.Del()):
                hints.stored.add(key)
            case (
                ast.If(test=test, orelse=[ast.If(test=other)])
                | ast.IfExp(test=test, orelse=ast.IfExp(test=other))
            ):
                # A comparison that is never true is not an error in `if … elif …`: other branches
                # cover the real values.
                _mark_gets([test, other], hints.tolerated)
                hints.alternative.update(_comparisons(test), _comparisons(other))
            case (
                ast.If(test=test)
                | ast.IfExp(test=test)
                | ast.While(test=test)
                | ast.Assert(test=test)
            ):
                _mark_gets([test], hints.tolerated)
            case ast.comprehension(ifs=tests):
                _mark_gets(tests, hints.tolerated)
            case ast.BoolOp(op=op, values=values):
                _mark_gets(values[:-1], hints.tolerated)
                if isinstance(op, ast.Or):
                    hints.alternative.update(_comparisons(node))
    return hints


def _comparisons(node: ast.AST) -> list[ast.Compare]:
    """Return the comparisons in an expression."""
    return [part for part in walk_nodes(node) if isinstance(part, ast.Compare)]


def _mark_gets(tests: Iterable[ast.expr], found: set[ast.AST]) -> None:
    """Add to the set `found` those `.get()` calls whose results a condition in `tests` examines.

    Examples of such conditions are `not d.get("a")` and `d.get("a") is None`.
    """
    for test in tests:
        match test:
            case ast.BoolOp(values=values):
                _mark_gets(values, found)
            case ast.UnaryOp(op=ast.Not(), operand=inner) | ast.NamedExpr(value=inner):
                _mark_gets([inner], found)
            case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()]):
                _mark_gets([left], found)
            case ast.Compare(
                left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[ast.Constant(value=None)]
            ):
                _mark_gets([left], found)
            case ast.Call(func=ast.Attribute(attr="get", value=owner)):
                found.add(test)
                _mark_gets([owner], found)
