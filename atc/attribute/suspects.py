"""From an exception to the expressions on the failing line that can have caused it, each with a test on its value."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from atc.attribute.definitions import constant_step
from atc.attribute.layout import Layout
from atc.attribute.paths import EACH, Path
from atc.attribute.region import AGGREGATES, compared, items_of, iterated, stops, taken_apart, used_in
from atc.attribute.syntax import simple_name
from protocols.jsontypes import Json
from protocols.parsing import literal
from sandbox.trace import Failure

Role = Literal["key", "keyed", "attribute", "index", "type", "empty", "value", "length"]
Test = Callable[[Json], bool]


@dataclass(frozen=True, eq=False, slots=True)
class Suspect:
    """An expression whose value, at `path`, may have caused the failure: it did if `fails` holds for that value.

    `key` is the key, attribute or index that was asked for; `index` the expression that gave it where it is no
    constant.
    """

    expr: ast.expr
    role: Role
    fails: Test
    path: Path = ()
    key: Json = None
    index: ast.expr | None = None
    odd: int = 0
    """Of the two sides of an operator: how much less often one of this type is meant to stand there."""


def suspects(failure: Failure, nodes: Sequence[ast.expr], layout: Layout) -> list[Suspect]:
    """Who may have caused the failure, in order of evaluation."""
    message = failure.message
    if failure.line is not None and (tests := stops(layout, failure.line)):
        parts = [n for test in tests for n in ast.walk(test) if isinstance(n, ast.expr)]
        # What was gone through in vain is to blame only if there was nothing to go through.
        gone = {id(loop.iter) for loop in ast.walk(layout.tree) if isinstance(loop, ast.For | ast.AsyncFor)}
        return [Suspect(part, "value" if id(part) in gone else "empty", nothing) for part in parts]
    match failure.type.rpartition(".")[2]:
        case "KeyError" if message.startswith("slice("):
            return list(_type(message, nodes, layout))
        case "KeyError":
            return list(_key(key_of(message), nodes))
        case "IndexError":
            return list(_index(nodes)) or list(_empty(nodes))
        case "AttributeError":
            return list(_attribute(message, nodes))
        case "TypeError":
            return list(_type(message, nodes, layout))
        case "ZeroDivisionError" | "StatisticsError" | "StopIteration" | "StopAsyncIteration" | "RuntimeError":
            return list(_empty(nodes))
        case "NameError" | "UnboundLocalError":
            return list(_unbound(message, layout))
        case "JSONDecodeError":
            return [Suspect(n.args[0], "value", of_type("str")) for n in nodes if isinstance(n, ast.Call) and n.args]
        case "ValueError" | "UnicodeError" | "InvalidOperation" | "OverflowError":
            if re.search(r"\bempty\b|at least (one|two|1|2)", message):
                return list(_empty(nodes))
            return list(_value(message, nodes, layout))
    return []


def _unbound(message: str, layout: Layout) -> Iterator[Suspect]:
    """What a loop went through that would have bound the name, had there been anything."""
    name = next(iter(re.findall(r"'(\w+)'", message)), None)
    for loop in ast.walk(layout.tree):
        if isinstance(loop, ast.For | ast.AsyncFor):
            bound = (n for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
            if any(node.id == name for node in bound):
                yield Suspect(loop.iter, "value", nothing)


def key_of(message: str) -> Json:
    """The key that a KeyError's text names; the text itself where it is no literal."""
    try:
        return literal(message)
    except (ValueError, SyntaxError):
        return message


def _key(key: Json, nodes: Sequence[ast.expr]) -> Iterator[Suspect]:
    def lacks(value: Json) -> bool:
        return isinstance(value, Mapping) and (not isinstance(key, str) or key not in value)

    dynamic: list[Suspect] = []
    named: list[Suspect] = []
    for node in nodes:
        match node:
            case (
                ast.Subscript(value=value, slice=index)
                | ast.Call(func=ast.Attribute(value=value, attr="pop"), args=[index])
            ):
                if isinstance(index, ast.Constant) and index.value == key:
                    named.append(Suspect(value, "key", lacks, key=key))
                elif not isinstance(index, ast.Constant | ast.Slice):
                    dynamic.append(Suspect(value, "key", lacks, key=key, index=index))
            case ast.Call() if simple_name(node) in AGGREGATES | {"map"}:
                getters = [n for n in ast.walk(node) if isinstance(n, ast.Call) and simple_name(n) == "itemgetter"]
                if any(isinstance(a, ast.Constant) and a.value == key for getter in getters for a in getter.args):
                    items = node.args[-1:] if simple_name(node) == "map" else items_of(node)
                    named += [Suspect(each, "key", lacks, (EACH,), key=key) for each in items]
    return iter(named or dynamic)


def _index(nodes: Sequence[ast.expr]) -> Iterator[Suspect]:
    for node in nodes:
        match node:
            case ast.Subscript(value=value, slice=index) if not isinstance(index, ast.Slice):
                step = constant_step(index)
                if isinstance(step, int):
                    yield Suspect(value, "index", _shorter(step), key=step)
                elif step is EACH:
                    yield Suspect(value, "index", lambda v: isinstance(v, list | str) and not v, index=index)
            case ast.Call(func=ast.Attribute(value=value, attr="pop" | "popleft")):
                yield Suspect(value, "empty", lambda v: v == [])
    yield from _empty(nodes)


def _shorter(index: int) -> Test:
    return lambda value: isinstance(value, list | str) and not -len(value) <= index < len(value)


def _attribute(message: str, nodes: Sequence[ast.expr]) -> Iterator[Suspect]:
    if (match := re.search(r"'(\w+)' object has no attribute '(\w+)'", message)) is None:
        return
    kind, name = match.groups()
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr == name:
            yield Suspect(node.value, "attribute", of_type(kind), key=name)


_PYTHON_TYPES: dict[str, Test] = {
    "NoneType": lambda v: v is None,
    "None": lambda v: v is None,
    "str": lambda v: isinstance(v, str),
    "string": lambda v: isinstance(v, str),
    "int": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "float": lambda v: isinstance(v, float),
    "bool": lambda v: isinstance(v, bool),
    "list": lambda v: isinstance(v, list),
    "dict": lambda v: isinstance(v, Mapping),
}


def of_type(name: str) -> Test:
    """A test for the JSON value that Python calls a `name`."""
    return _PYTHON_TYPES.get(name, lambda _: False)


# How a TypeError names the type that it does not like, across Python 3.11 to 3.14.
_NAMED_TYPE = (
    r"'(\w+)' object is not (?:subscriptable|iterable|an iterator|callable|a mapping)",
    r"'(\w+)' object (?:cannot|does not|doesn't)",
    r"^(\w+) indices must be",
    r"of type '(\w+)'",
    r"unhashable type: '(\w+)'",
    r"instance, (\w+) found",
    r"passed to (\w+)\.",
    r"type (\w+) doesn't",
    r"non-iterable (\w+) object",
    r"bad operand type for .*: '(\w+)'",
    r"\(not \"(\w+)\"\)",
    r"must be str, not (\w+)",
    r"convert type '(\w+)'",
    r"not '?(\w+)'?$",
)
_TWO_TYPES = r"(?:\bfor\b|between instances of).*?'(\w+)' and '(\w+)'"


def _type(message: str, nodes: Sequence[ast.expr], layout: Layout) -> Iterator[Suspect]:
    if (pair := re.search(_TWO_TYPES, message)) is not None:
        yield from _operands(pair.group(1), pair.group(2), nodes, layout)
        return
    if "'slice'" in message or message.startswith("slice("):  # an object was cut like a list or a text
        cut = [node for node in nodes if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)]
        yield from (Suspect(node.value, "type", of_type("dict")) for node in cut)
        return
    if (wanted := re.search(r"argument must be (?:an? )?(\w+)$", message)) is not None:
        right = of_type(wanted.group(1))
        given = [part for node in nodes if isinstance(node, ast.Call) for part in node.args]
        yield from (Suspect(part, "type", lambda value: not right(value)) for part in given)
        return
    name = next((m.group(1) for pattern in _NAMED_TYPE if (m := re.search(pattern, message))), None)
    if name is None:
        return
    fails = of_type(name)
    for node in nodes:
        if "indices must be" in message or "subscriptable" in message:
            if isinstance(node, ast.Subscript):
                key = node.slice.value if isinstance(node.slice, ast.Constant) else None
                yield Suspect(node.value, "type", fails, key=key)
        elif "callable" in message:
            if isinstance(node, ast.Call):
                yield Suspect(node.func, "type", fails)
        elif "iterable" in message or "mapping" in message:
            yield from (Suspect(expr, "type", fails, path) for expr, path in iterated(node, layout))
        else:
            yield from (Suspect(expr, "type", fails, path) for expr, path in used_in(node, layout))


_ODDITY = {"dict": 2, "list": 2, "tuple": 2, "set": 2, "str": 1}
"""Types by how seldom they are meant to meet another one at an operator; numbers are what most operators are for."""


def _operands(left: str, right: str, nodes: Sequence[ast.expr], layout: Layout) -> Iterator[Suspect]:
    """Both sides of the operators on the line. Where None is one side, the other is as it should be."""
    found: list[tuple[str, ast.expr, Path]] = []
    for node in nodes:
        match node:
            case ast.BinOp(left=one, right=two):
                found += [(left, one, ()), (right, two, ())]
            case ast.Compare(left=one, comparators=others):
                sides = [one, *others]
                found += [(left, side, ()) for side in sides[:-1]] + [(right, side, ()) for side in others]
            case ast.Call():
                for expr, path in compared(node, layout):
                    found += [(left, expr, path), (right, expr, path)]
    nulls = [item for item in found if item[0] == "NoneType"]
    for name, expr, path in nulls or found:
        yield Suspect(expr, "type", of_type(name), path, odd=_ODDITY.get(name, 0) if left != right else 0)


def nothing(value: Json) -> bool:
    """Whether a value holds nothing: None, 0, an empty text, list or object."""
    return value in (None, 0, "", [], {}) and value is not False


def _empty(nodes: Sequence[ast.expr]) -> Iterator[Suspect]:
    for node in nodes:
        match node:
            case ast.BinOp(right=right, op=ast.Div() | ast.FloorDiv() | ast.Mod()):
                yield Suspect(right, "empty", nothing)
            case ast.Call(args=[first, *_]) if simple_name(node) in AGGREGATES | {"next", "choice", "reduce", "divmod"}:
                yield Suspect(node.args[-1] if simple_name(node) in ("reduce", "divmod") else first, "empty", nothing)


def _value(message: str, nodes: Sequence[ast.expr], layout: Layout) -> Iterator[Suspect]:
    if (unpacked := re.search(r"unpack .{0,40}expected (?:at least )?(\d+)", message)) is not None:
        wanted = int(unpacked.group(1))
        for node in nodes:
            yield from (Suspect(e, "length", _other_length(wanted), path) for e, path in taken_apart(node, layout))
        return
    quoted = re.search(r"('(?:[^'\\]|\\.){0,200}'|\"(?:[^\"\\]|\\.){0,200}\")", message)
    text = str(literal(quoted.group(1))) if quoted else None

    def holds(value: Json) -> bool:
        return isinstance(value, str) and text is not None and (value == text or (text != "" and text in value))

    for node in nodes:
        if isinstance(node, ast.Call):
            parts = [*node.args, *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
            yield from (Suspect(part, "value", holds) for part in parts)


def _other_length(wanted: int) -> Test:
    return lambda value: isinstance(value, list | str | Mapping) and len(value) != wanted
