"""Expressions that may have caused an exception, each with a test that is true for the value at
fault.

If the sandbox reports columns, these are parts of the expression that failed; otherwise (monty) of
the failing line.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from atc.core.json_paths import EACH, KEY, JsonPath
from atc.core.types import parse_answer
from atc.pipeline.attribute.dataflow import Tree, constant_step, is_on_line, position, simple_name
from protocols.python_source import evaluate_literal
from protocols.schema import Json
from sandbox.trace import Failure

Test = Callable[[Json], bool]

_GOES_THROUGH = frozenset(
    "join map max min sorted sum sort mean median fmean stdev pstdev mode fsum variance nlargest nsmallest".split()  # noqa: SIM905
)
"""Functions and methods that operate on each item they are given."""

_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (float,),
    "bool": (bool,),
}
_PYTHON_TYPES |= {
    "list": (list,),
    "dict": (dict,),
    "NoneType": (type(None),),
    "None": (type(None),),
    "string": (str,),
}
_PYTHON_TYPES |= {"tuple": ()}  # JSON has no tuples: a tuple is the program's own value

SuspectRole = Literal["key", "attribute", "index", "type", "empty", "value", "length"]


@dataclass(frozen=True, eq=False, slots=True)
class Suspect:
    """An expression that caused the failure if `fails` is true for its value at `path`.

    `key` is the requested key, attribute or index; `index` is the expression that computed it, if
    it is not a constant.
    """

    expr: ast.expr
    role: SuspectRole
    fails: Test
    path: JsonPath = ()
    key: Json = None
    index: ast.expr | None = None

    @property
    def unfilled(self) -> bool:
        """True if an empty value such as None or `[]` fails, which means that code that should have
        filled it did not.
        """
        return any(map(self.fails, (None, 0, "", [], {})))


def suspects(failure: Failure, tree: Tree) -> Iterator[list[Suspect]]:
    """Yield groups of suspects: first those in the failing expression, then on its line and in its
    statement.
    """
    if failure.line is None:
        return
    if tests := _stops(tree, failure.line):
        yield [
            Suspect(n, "empty", is_empty)
            for test in tests
            for n in ast.walk(test)
            if isinstance(n, ast.expr)
        ]
        return
    for nodes in _regions(failure, tree):
        if found := list(_find_suspects_at(failure, nodes, tree)):
            yield found


def _regions(failure: Failure, tree: Tree) -> Iterator[list[ast.AST]]:
    """Yield groups of nodes to examine, from the failing expression outwards."""
    frame = failure.frames[-1]
    if frame.column is not None:
        place = (frame.line, frame.column, frame.end_line, frame.end_column)
        exact = [node for node in ast.walk(tree.root) if position(node) == place]
        for node in exact[:]:
            # An unpacked value: include the expression that is unpacked.
            if isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Store):
                values = (getattr(tree.parents.get(node), name, None) for name in ("value", "iter"))
                exact += [value for value in values if value is not None]
        yield [
            *exact,
            *(part for node in exact if isinstance(node, ast.JoinedStr) for part in node.values),
        ]
    statements = [
        node
        for node in ast.walk(tree.root)
        if isinstance(node, ast.stmt) and is_on_line(node, frame.line)
    ]
    inner = (child for statement in statements for child in ast.iter_child_nodes(statement))
    parts = [
        n for n in (*inner, *statements) if isinstance(n, ast.expr | ast.withitem | ast.AugAssign)
    ]
    yield [node for part in parts for node in ast.walk(part) if is_on_line(node, frame.line)]


def _stops(tree: Tree, line: int) -> list[ast.expr]:
    """Return the conditions that led to a `raise`, an `assert` or an exit on the line."""
    for node in ast.walk(tree.root):
        ends = isinstance(node, ast.Expr) and simple_name(node.value) in ("exit", "quit")
        if (ends or isinstance(node, ast.Raise | ast.Assert)) and is_on_line(node, line):
            return [
                around.test
                for around in (node, *tree.around(node))
                if isinstance(around, ast.If | ast.Assert)
            ]
    return []


def _find_suspects_at(failure: Failure, nodes: Sequence[ast.AST], tree: Tree) -> Iterator[Suspect]:
    """Yield the operands used at the nodes, with the test that follows from the exception."""
    role, fails, key = _test(failure.type.rpartition(".")[2], failure.message)
    for node in nodes:
        index = None
        own = key
        test = fails
        loop = not isinstance(tree.parents.get(node), ast.Assign)
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            step = constant_step(node.slice)
            index = node.slice if step is EACH else None
            if role == "key" and index is None and step != key:
                continue  # this is not the missing key
            own = step if role in ("index", "type") and index is None else key
            test = _make_length_test(own) if role == "index" and isinstance(own, int) else fails
        elif role == "attribute" and not (isinstance(node, ast.Attribute) and node.attr == key):
            continue
        for expr, path in _used_at(node, tree):
            given = (
                isinstance(node, ast.Subscript)
                and expr is node.slice
                and (index is None or role == "key")
            )
            divided = isinstance(node, ast.BinOp) and role == "empty" and expr is node.left
            whole = role == "empty" and (path or expr not in ast.iter_child_nodes(node))
            if not (given or divided or whole or (role == "length" and loop and not path)):
                yield Suspect(expr, role, test, path, own, index)


def _test(name: str, message: str) -> tuple[SuspectRole, Test, Json]:
    """Return the role of the failing value, the test that it fails, and the requested key or
    attribute.
    """
    known = [
        n
        for n in re.findall(r"^string|\w+", message.replace("format string", ""))
        if n in _PYTHON_TYPES
    ]
    if name == "KeyError" and not message.startswith("slice("):
        key = parse_answer(message)
        return (
            "key",
            lambda v: isinstance(v, Mapping) and (not isinstance(key, str) or key not in v),
            key,
        )
    if name == "IndexError":
        return "index", lambda v: isinstance(v, list | str) and not v, None
    if name == "AttributeError":
        return (
            "attribute",
            make_type_test(*known[:1]),
            next(iter(re.findall(r"attribute '(\w+)'", message)), None),
        )
    if name in ("TypeError", "KeyError"):
        if "'slice'" in message or message.startswith("slice("):
            return "type", make_type_test("dict"), None
        # Of two operand types, test for the one that is rarely intended.
        if re.search(r"' and '|between instances of", message):
            return (
                "type",
                make_type_test(*({*known} & {"NoneType"} or {*known} & {"dict", "list"} or known)),
                None,
            )
        against = [
            n
            for n in re.findall(r"\b(?:not|got) \W?(\w+)|(\w+) found", message)
            for n in n
            if n in _PYTHON_TYPES
        ]
        return (
            "type",
            make_type_test(*(known[:1] if "indices" in message else against[:1] or known[:1])),
            None,
        )
    if (
        unpacked := re.search(
            r"unpack .{0,40}expected (?:at least )?(\d+)(?:, got (\d+))?", message
        )
    ) is not None:
        wanted = int(unpacked[1])
        got = int(unpacked[2] or -1)
        fits = got.__eq__ if got >= 0 else wanted.__lt__
        return "length", lambda v: isinstance(v, list | str | Mapping) and fits(len(v)), None
    quoted = re.search(
        r"('(?:[^'\\]|\\.){0,200}'|\"(?:[^\"\\]|\\.){0,200}\")|(?<=remains: ).{1,200}", message
    )
    text = "" if quoted is None else str(evaluate_literal(quoted[1])) if quoted[1] else quoted[0]
    if name.endswith("Error") and text and name not in ("NameError", "UnboundLocalError"):
        return "value", lambda v: isinstance(v, str) and text in v, None
    return "empty", is_empty, None


def is_empty(value: Json) -> bool:
    """Return True if a value is None, 0 or an empty string, list or object."""
    return value in (None, 0, "", [], {}) and value is not False


def make_type_test(*names: str) -> Test:
    """Return a test for JSON values that have one of these Python types."""
    kinds = tuple(kind for name in names for kind in _PYTHON_TYPES[name])
    return lambda value: isinstance(value, kinds) and (isinstance(value, bool) <= (bool in kinds))


def _make_length_test(index: int) -> Test:
    """Return a test for sequences that are too short for an index."""
    return lambda value: isinstance(value, list | str) and not -len(value) <= index < len(value)


def _used_at(node: ast.AST, tree: Tree) -> Iterator[tuple[ast.expr, JsonPath]]:
    """Yield the operands used at `node`, each as an expression and a path inside its value.

    These are operands and arguments, the items that a function iterates or the results of its
    `key=`, and the node itself if a loop or assignment uses it.
    """
    parent = tree.parents.get(node)
    if isinstance(parent, ast.For | ast.AsyncFor | ast.comprehension) and parent.iter is node:
        yield parent.iter, ()
        if isinstance(parent.target, ast.Tuple | ast.List):
            yield from ((parent.iter, (step,)) for step in (KEY, EACH))
    elif isinstance(parent, ast.Assign | ast.Starred) and isinstance(node, ast.expr):
        yield node, ()
    bodies: list[ast.expr] = []
    taken_apart = isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Store)
    for child in () if taken_apart else ast.iter_child_nodes(node):
        part = child.value if isinstance(child, ast.Starred | ast.keyword) else child
        if isinstance(part, ast.Lambda):
            bodies.append(part.body)
        elif isinstance(part, ast.expr):
            yield part, ()
    if isinstance(node, ast.Call):
        held = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        # As in `max(d, key=d.get)`.
        counted = [k.value.value for k in node.keywords if isinstance(k.value, ast.Attribute)]
        yield from ((each, ()) for each in held)
        if simple_name(node) in _GOES_THROUGH and not bodies:
            getters = [
                n
                for n in ast.walk(node)
                if isinstance(n, ast.Call) and simple_name(n) == "itemgetter"
            ]
            for each in (*held, *node.args, *counted):
                yield from (
                    (each, (EACH, constant_step(field)))
                    for getter in getters
                    for field in getter.args
                )
                yield from ((each, (step,)) for step in ((EACH,) if node.keywords else (KEY, EACH)))
    for body in bodies:
        yield from (
            (part, ()) for part in (body.elts if isinstance(body, ast.Tuple | ast.List) else [body])
        )
