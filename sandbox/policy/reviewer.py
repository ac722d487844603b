"""The policy itself: RestrictedPython's transformer, used to look and not to rewrite.

RestrictedPython replaces attributes, items, iteration and writing by calls of guards. Its guards cost ordinary programs
(of 44, 28 to 33 ran) and hold nothing that happens in C, so only its knowledge is taken: a node that it does not know
is refused, so that a new version of Python adds no hole; the list of attributes that lead into frames; what it says
about single nodes. Each node is visited by itself, from a loop: no program is nested too deeply for it.
"""

from __future__ import annotations

import ast
from typing import Any

from RestrictedPython.transformer import INSPECT_ATTRIBUTES, RestrictingNodeTransformer

from sandbox.policy import modules
from sandbox.policy.names import (
    BUILTINS,
    Problem,
    attribute_problem,
    class_problem,
    is_dunder,
    path_problem,
    text_problem,
)
from sandbox.policy.parse import lines, parse
from sandbox.policy.scopes import OBJECT, UNBOUND, Scopes
from sandbox.policy.violation import Violation

_BY_NAME = frozenset(  # functions that take the name of an attribute as text
    (
        "getattr", "setattr", "delattr", "hasattr", "attrgetter", "methodcaller", "__getattribute__", "__getattr__",
        "__setattr__", "__delattr__",
    )
)  # fmt: skip

_IMPLICIT = frozenset(("__name__", "__doc__", "__annotations__", "__debug__", "__class__"))
"""Names of this kind that Python binds, and that lead nowhere."""

# Rewritten or refused by RestrictedPython so that its guards hold, of which there are none here. `except*` it refuses
# for a confusion of types that defeats guards; `nonlocal`, `async`, `match` and annotations it never took up; and names
# that begin with an underscore are its guards' own, while a program may name things as it likes.
_ALLOWED = (  # noqa: SIM905
    "Subscript For AsyncFor comprehension Assign AugAssign With AsyncWith Nonlocal TryStar Await AnnAssign Module arg "
    "Match match_case MatchValue MatchSingleton MatchSequence MatchStar MatchAs MatchOr MatchMapping TypeAlias TypeVar "
    "ParamSpec TypeVarTuple FunctionDef AsyncFunctionDef Lambda ClassDef ExceptHandler"
).split()


def review_source(source: str) -> tuple[Violation, ...]:
    """See `sandbox.policy.review`."""
    try:
        tree = parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()  # it cannot be compiled either
    reviewer = _Reviewer(Scopes(tree))
    for node in reviewer.scopes.of:
        reviewer.visit(node)
    every = lines(source)
    return tuple(_violation(found, every) for found in sorted(set(reviewer.found)))


def _violation(found: tuple[int, int, str, str], every: list[str]) -> Violation:
    line, offset, message, suggestion = found
    text = every[line - 1] if line <= len(every) else ""
    column = len(text.encode("utf-8")[:offset].decode("utf-8", "ignore"))  # ast counts bytes
    return Violation(line, column + 1, message, suggestion)


class _Reviewer(RestrictingNodeTransformer):
    """Collects in `found` the line, the offset in bytes, the message and the suggestion of each violation."""

    def __init__(self, scopes: Scopes) -> None:
        super().__init__()
        self.scopes = scopes
        self.found: list[tuple[int, int, str, str]] = []

    def error(self, node: ast.AST, info: str) -> None:
        """RestrictedPython refuses a node."""
        self._refuse(node, (info[:1].lower() + info[1:].rstrip("."), ""))

    def node_contents_visit(self, node: Any) -> Any:
        """The loop visits the contents, too."""
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:  # noqa: N802 - the name that the visitor looks for
        """Refuse builtins that the program does not bind, and what leads to them."""
        free = self.scopes.of[node].lookup(node.id) == UNBOUND
        if node.id in BUILTINS and free:
            why, instead = BUILTINS[node.id]
            self._refuse(node, (f"{node.id}() {why}", instead))
        elif is_dunder(node.id) and node.id not in _IMPLICIT:
            bad = self._attribute(node.id)
            if bad is not None or (free and isinstance(node.ctx, ast.Load)):
                self._refuse(node, bad or (f"{node.id!r} is not a name of the program", ""))
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:  # noqa: N802
        """Refuse what leads into the interpreter, or from a module to another; modules cannot be changed."""
        line, end = node.end_lineno or node.lineno, node.end_col_offset or 0
        at = (line, max(end - len(node.attr.encode("utf-8")), 0))
        module = self._module(node.value)
        if module is not None:
            self._refuse_at(at, modules.member_problem(module, node.attr))
            if not isinstance(node.ctx, ast.Load):
                self._refuse_at(at, (f"the module {module!r} cannot be changed", "use a name of your own instead"))
        elif node.attr == "__class__":
            self._refuse_at(at, None if self._as_type(node) else class_problem())
        else:
            self._refuse_at(at, self._attribute(node.attr))
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:  # noqa: N802
        """Refuse as text what is refused as an attribute."""
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if isinstance(function, ast.Name):  # `from operator import attrgetter as by`
            path = self.scopes.of[function].lookup(name)
            name = name if path in (UNBOUND, OBJECT) else path.rpartition(".")[2]
        if name not in _BY_NAME:
            return node
        module = self._module(node.args[0]) if node.args else None
        for argument in node.args:
            text = _text(argument)
            if text is None:
                continue
            problem = path_problem(text.split("."), INSPECT_ATTRIBUTES)
            if module is not None and argument is node.args[1]:
                problem = modules.member_problem(module, text)
            self._refuse(argument, problem)
        if module is not None and name in ("setattr", "delattr"):
            self._refuse(node, (f"the module {module!r} cannot be changed", "use a name of your own instead"))
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:  # noqa: N802
        """Refuse names that only an attack keeps as text."""
        if isinstance(node.value, str):
            self._refuse(node, text_problem(node.value, INSPECT_ATTRIBUTES))
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.BinOp:  # noqa: N802
        """Refuse them in pieces, too."""
        text = None if isinstance(self.scopes.parents[node], ast.BinOp) else _text(node)
        if text is not None:
            self._refuse(node, text_problem(text, INSPECT_ATTRIBUTES))
        return node

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.MatchClass:  # noqa: N802
        """`case object(__class__=x)` reads attributes."""
        for name in node.kwd_attrs:
            self._refuse(node, path_problem([name], INSPECT_ATTRIBUTES))
        return node

    def visit_Import(self, node: ast.Import) -> ast.Import:  # noqa: N802
        """Refuse modules outside the list."""
        for alias in node.names:
            self._refuse(alias, modules.module_problem(alias.name))
        self._check_eager(node)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom:  # noqa: N802
        """Refuse modules outside the list, what leads from one to another, and stars."""
        path = node.module or ""
        if node.level:
            self._refuse(node, ("a program has no package to import from", "write it into the program instead"))
            return node
        problem = modules.module_problem(path)
        if problem is not None:
            self._refuse(node, problem)
            return node
        for alias in node.names:
            if alias.name == "*":
                self._refuse(alias, ("a star hides what is imported", "import the names that you use instead"))
            else:
                self._refuse(alias, modules.member_problem(path, alias.name))
        self._check_eager(node)
        return node

    def _check_eager(self, node: ast.Import | ast.ImportFrom) -> None:
        if getattr(node, "is_lazy", 0):  # Python 3.15
            self._refuse(node, ("a lazy import happens where nobody sees it", "use a plain import instead"))

    def _module(self, node: ast.AST) -> str | None:
        """The dotted path of the module, or of a part of one, that an expression stands for."""
        steps: list[str] = []
        while isinstance(node, ast.Attribute):
            steps.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        path = self.scopes.of[node].lookup(node.id)
        if path in (UNBOUND, OBJECT) or not (path in modules.ALLOWED or path in modules.PACKAGES):
            return None
        for name in reversed(steps):
            path = f"{path}.{name}"
            if name[:1].isupper():  # a class, whose attributes are like those of any object
                return None
        return path

    def _as_type(self, node: ast.Attribute) -> bool:
        """Whether `x.__class__` stands where `type(x)` could: called, compared, asked for an attribute."""
        parent = self.scopes.parents[node]
        if getattr(node.value, "id", "") in ("self", "other"):
            return True
        if isinstance(parent, ast.Attribute | ast.Compare | ast.FormattedValue):
            return True
        return isinstance(parent, ast.Call) and (
            parent.func is node
            or getattr(parent.func, "id", "") in ("isinstance", "issubclass", "print", "str", "repr")
        )

    def _attribute(self, name: str) -> Problem | None:
        return attribute_problem(name, INSPECT_ATTRIBUTES, self.scopes.own)

    def _refuse(self, node: ast.AST, problem: Problem | None) -> None:
        self._refuse_at((getattr(node, "lineno", 1), getattr(node, "col_offset", 0)), problem)

    def _refuse_at(self, place: tuple[int, int], problem: Problem | None) -> None:
        if problem is not None:
            self.found.append((*place, *problem))


for _node in _ALLOWED:
    setattr(_Reviewer, f"visit_{_node}", _Reviewer.node_contents_visit)


def _text(node: ast.AST) -> str | None:
    """A constant string, also one that is written in pieces."""
    pieces: list[str] = []
    stack = [node]
    while stack:
        match stack.pop():
            case ast.Constant(value=str(value)):
                pieces.append(value)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                stack += [right, left]
            case _:
                return None
    return "".join(pieces)
