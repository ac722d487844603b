"""Expressions that may have caused an exception, each with a test for values that cause it.

If the sandbox reports the column at which the program failed, the expressions are parts of the
expression there. The sandbox `monty` reports only the line; then they are parts of the whole line.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from atc.core.answers import parse_answer
from atc.core.json_paths import EACH, KEY, JsonPath
from atc.pipeline.attribute.dataflow import Tree, constant_step, is_on_line, position, simple_name
from protocols.python_source import evaluate_literal
from protocols.schema import Json
from sandbox.trace import Failure

Test = Callable[[Json], bool]

_GOES_THROUGH = frozenset(
    """
    join map max min sorted sum sort mean median fmean stdev pstdev mode fsum variance nlargest
    nsmallest
    """.split()  # noqa: SIM905
)
"""Functions and methods that operate on each item of their argument."""

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
    """An expression of the program that may have caused the failure.

    It did if the test `fails` is true for the part of its value at `path`. `role` is how the
    program used this part, for example as an object that is read by a key. `key` is the requested
    key, attribute or index; `index` is the expression that computed it, if it is not a constant.
    """

    expr: ast.expr
    role: SuspectRole
    fails: Test
    path: JsonPath = ()
    key: Json = None
    index: ast.expr | None = None

    @property
    def unfilled(self) -> bool:
        """True if the failure can be explained by an empty value, such as None or `[]`.

        The real cause may then be code that should have replaced the empty value but was not
        executed.
        """
        return any(map(self.fails, (None, 0, "", [], {})))


def suspects(failure: Failure, tree: Tree) -> Iterator[list[Suspect]]:
    """Yield groups of expressions that may have caused `failure`, the likeliest group first.

    The first group consists of parts of the failing expression; later groups consist of parts of
    the code around it. If the failing line is a `raise`, `assert` or `exit()`, there is one group:
    the parts of the conditions that led to this line.
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
    """Yield groups of syntax nodes in which to look for the cause of a failure.

    The first group is the failing expression, the next one is the code around it on the same line.
    """
    frame = failure.frames[-1]
    nodes = list(ast.walk(tree.root))
    if frame.column is not None:
        place = (frame.line, frame.column, frame.end_line, frame.end_column)
        yield _expand([node for node in nodes if position(node) == place], tree)
    statements = [n for n in nodes if isinstance(n, ast.stmt) and is_on_line(n, frame.line)]
    inner = [child for statement in statements for child in ast.iter_child_nodes(statement)]
    roots = (ast.expr, ast.withitem, ast.AugAssign)
    parts = [node for node in (*inner, *statements) if isinstance(node, roots)]
    yield [node for part in parts for node in ast.walk(part) if is_on_line(node, frame.line)]


def _expand(exact: list[ast.AST], tree: Tree) -> list[ast.AST]:
    """Return the nodes `exact`, the values that they unpack, and the parts of their f-strings.

    For the target `a, b` in `a, b = pair`, for example, `pair` is added.
    """
    found = list(exact)
    for node in exact:
        if isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Store):
            parent = tree.parents.get(node)
            values = (getattr(parent, name, None) for name in ("value", "iter"))
            found += [value for value in values if value is not None]
    strings = [node for node in found if isinstance(node, ast.JoinedStr)]
    return [*found, *(part for node in strings for part in node.values)]


def _stops(tree: Tree, line: int) -> list[ast.expr]:
    """Return the conditions that led to a `raise`, `assert` or `exit()` on the line `line`.

    Empty if the line contains no such statement.
    """
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
    """Yield the operands of these syntax nodes as suspects.

    The type and message of the exception tell which values of an operand would have caused it.
    """
    role, fails, key = _test(failure.type.rpartition(".")[2], failure.message)
    for node in nodes:
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            yield from _find_subscript_suspects(role, fails, key, node, tree)
        elif role != "attribute" or (isinstance(node, ast.Attribute) and node.attr == key):
            for expr, path in _used_at(node, tree):
                if not _is_harmless(role, node, expr, path, tree):
                    yield Suspect(expr, role, fails, path, key)


def _find_subscript_suspects(
    role: SuspectRole, fails: Test, key: Json, node: ast.Subscript, tree: Tree
) -> Iterator[Suspect]:
    """Yield those operands of the subscript `value[index]` that may have caused the failure.

    `key` is the key that the exception names, or None.
    """
    step = constant_step(node.slice)
    index = node.slice if step is EACH else None
    if index is None:
        if role == "key" and step != key:
            return  # this is not the missing key
        key = step if role in ("index", "type") else key
    if role == "index" and isinstance(key, int):
        fails = _make_length_test(key)
    for expr, path in _used_at(node, tree):
        is_given = expr is node.slice and (index is None or role == "key")
        if not is_given and not _is_harmless(role, node, expr, path, tree):
            yield Suspect(expr, role, fails, path, key, index)


def _is_harmless(
    role: SuspectRole, node: ast.AST, expr: ast.expr, path: JsonPath, tree: Tree
) -> bool:
    """Return True if the expression `expr`, which `node` uses, cannot have caused the failure.

    `role` is how the failing value was used. For example, an empty left operand of `/` is harmless,
    because only the right one causes a `ZeroDivisionError`.
    """
    if role == "length":
        return not path and not isinstance(tree.parents.get(node), ast.Assign)
    if role != "empty":
        return False
    is_dividend = isinstance(node, ast.BinOp) and expr is node.left
    return is_dividend or bool(path) or expr not in ast.iter_child_nodes(node)


def _test(name: str, message: str) -> tuple[SuspectRole, Test, Json]:
    """Return what an exception tells about the failing value, as three results.

    These are the role in which the program used the value, a test that is true for values which
    cause this exception, and the requested key or attribute (None if the exception names none).
    `name` and `message` are the type and the message of the exception.
    """
    if name == "KeyError" and not message.startswith("slice("):
        key = parse_answer(message)
        return "key", lambda v: _lacks_key(v, key), key
    if name == "IndexError":
        return "index", lambda v: isinstance(v, list | str) and not v, None
    if name == "AttributeError":
        attribute = next(iter(re.findall(r"attribute '(\w+)'", message)), None)
        return "attribute", make_type_test(*_named_types(message)[:1]), attribute
    if name in ("TypeError", "KeyError"):
        return "type", _make_operand_test(message), None
    unpacked = _UNPACKED.search(message)
    if unpacked is not None:
        return "length", _make_unpacking_test(int(unpacked[1]), int(unpacked[2] or -1)), None
    text = _quoted_text(message)
    if name.endswith("Error") and text and name not in ("NameError", "UnboundLocalError"):
        return "value", lambda v: isinstance(v, str) and text in v, None
    return "empty", is_empty, None


def _lacks_key(value: Json, key: Json) -> bool:
    return isinstance(value, Mapping) and (not isinstance(key, str) or key not in value)


def _make_unpacking_test(wanted: int, got: int) -> Test:
    """Return a test that is true for values with the wrong number of items to be unpacked.

    Such a value has `got` items, the number that the exception reports. If `got` is -1, the number
    is unknown, and the value has more than `wanted` items.
    """
    fits = got.__eq__ if got >= 0 else wanted.__lt__
    return lambda value: isinstance(value, list | str | Mapping) and fits(len(value))


def _named_types(message: str) -> list[str]:
    """Return the names of Python types in the message of an exception, in order."""
    words = re.findall(r"^string|\w+", message.replace("format string", ""))
    return [word for word in words if word in _PYTHON_TYPES]


def _make_operand_test(message: str) -> Test:
    """Return a test that is true for values of the type about which a `TypeError` complains.

    `message` is the message of this exception.
    """
    if "'slice'" in message or message.startswith("slice("):
        return make_type_test("dict")
    known = _named_types(message)
    if re.search(r"' and '|between instances of", message):
        # Of two operand types, test for the one that is rarely intended.
        rare = {*known} & {"NoneType"} or {*known} & {"dict", "list"} or known
        return make_type_test(*rare)
    if "indices" in message:
        return make_type_test(*known[:1])
    matches = re.findall(r"\b(?:not|got) \W?(\w+)|(\w+) found", message)
    actual = [word for groups in matches for word in groups if word in _PYTHON_TYPES]
    return make_type_test(*(actual[:1] or known[:1]))


_UNPACKED = re.compile(r"unpack .{0,40}expected (?:at least )?(\d+)(?:, got (\d+))?")
_QUOTED = re.compile(r"('(?:[^'\\]|\\.){0,200}'|\"(?:[^\"\\]|\\.){0,200}\")|(?<=remains: ).{1,200}")


def _quoted_text(message: str) -> str:
    """Return the value that the message of an exception quotes, or "" if it quotes none."""
    quoted = _QUOTED.search(message)
    if quoted is None:
        return ""
    return str(evaluate_literal(quoted[1])) if quoted[1] else quoted[0]


def is_empty(value: Json) -> bool:
    """Return True if a value is None, 0, or an empty string, list or object."""
    return value in (None, 0, "", [], {}) and value is not False


def make_type_test(*names: str) -> Test:
    """Return a test that is true for JSON values of one of these Python types."""
    kinds = tuple(kind for name in names for kind in _PYTHON_TYPES[name])
    return lambda value: isinstance(value, kinds) and (isinstance(value, bool) <= (bool in kinds))


def _make_length_test(index: int) -> Test:
    """Return a test that is true for strings and lists too short for the index `index`."""
    return lambda value: isinstance(value, list | str) and not -len(value) <= index < len(value)


def _used_at(node: ast.AST, tree: Tree) -> Iterator[tuple[ast.expr, JsonPath]]:
    """Yield the values that the syntax node `node` uses.

    Each is an expression and a path inside the expression's value. They include the arguments of a
    call, the items that the called function iterates, and the results of its argument `key=`. The
    node itself is also yielded if a loop iterates it or an assignment unpacks it.
    """
    yield from _used_by_parent(node, tree.parents.get(node))
    is_target = isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Store)
    children = [] if is_target else list(ast.iter_child_nodes(node))
    parts = [c.value if isinstance(c, ast.Starred | ast.keyword) else c for c in children]
    bodies = [part.body for part in parts if isinstance(part, ast.Lambda)]
    for part in parts:
        if isinstance(part, ast.expr) and not isinstance(part, ast.Lambda):
            yield part, ()
    if isinstance(node, ast.Call):
        yield from _used_by_call(node, iterates=not bodies)
    for body in bodies:
        results = body.elts if isinstance(body, ast.Tuple | ast.List) else [body]
        yield from ((result, ()) for result in results)


def _used_by_call(call: ast.Call, *, iterates: bool) -> Iterator[tuple[ast.expr, JsonPath]]:
    """Yield the values that a call uses besides its plain arguments.

    These are the object of a method call and, if `iterates` is True, the items that the called
    function iterates. Each is an expression and a path inside the expression's value.
    """
    if isinstance(call.func, ast.Attribute):
        yield call.func.value, ()
    if iterates and simple_name(call) in _GOES_THROUGH:
        yield from _iterated_items(call)


def _used_by_parent(node: ast.AST, parent: ast.AST | None) -> Iterator[tuple[ast.expr, JsonPath]]:
    """Yield `node` itself if its parent node is a loop that iterates it or an assignment of it."""
    if isinstance(parent, ast.For | ast.AsyncFor | ast.comprehension) and parent.iter is node:
        yield parent.iter, ()
        if isinstance(parent.target, ast.Tuple | ast.List):
            yield from ((parent.iter, (step,)) for step in (KEY, EACH))
    elif isinstance(parent, ast.Assign | ast.Starred) and isinstance(node, ast.expr):
        yield node, ()


def _iterated_items(call: ast.Call) -> Iterator[tuple[ast.expr, JsonPath]]:
    """Yield the items that a called function such as `sorted` or `max` iterates.

    Each is yielded as the expression of the iterable and the path of the items inside it. If an
    `itemgetter` is among the arguments, the fields that it reads from the items are yielded, too.
    """
    receiver = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    # The object `d` in `max(d, key=d.get)`.
    keyed = [k.value.value for k in call.keywords if isinstance(k.value, ast.Attribute)]
    calls = (node for node in ast.walk(call) if isinstance(node, ast.Call))
    getters = [node for node in calls if simple_name(node) == "itemgetter"]
    fields = [constant_step(field) for getter in getters for field in getter.args]
    steps = (EACH,) if call.keywords else (KEY, EACH)
    for iterated in (*receiver, *call.args, *keyed):
        yield from ((iterated, (EACH, field)) for field in fields)
        yield from ((iterated, (step,)) for step in steps)
