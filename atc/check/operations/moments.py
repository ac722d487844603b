"""Dates, times and spans of time, and the failure that a tool's call raises: what they have and how they add up."""

from __future__ import annotations

import ast
import datetime
from collections.abc import Callable, Sequence
from typing import Any

from atc.check.functions.arguments import Arguments
from atc.check.known import forms
from atc.check.known.constants import computed, only
from atc.check.known.core import Core
from atc.check.known.folding import formed
from atc.check.known.kinds import ANY, FLOAT, INT, STR, Array, Atom, Iterating, Listing, Mapped, Record, Tuple, Type
from atc.check.known.lattice import members
from atc.check.known.nulls import need_value
from atc.check.known.objects import Made
from atc.check.operations.apartness import form_of, texts_apart
from atc.check.report import spelled

DATE, DATETIME, TIME, SPAN = (Made(name) for name in ("date", "datetime", "time", "timedelta"))
TOOL_ERROR = Made("ToolError")
TASK_GROUP = Made("TaskGroup")
FAILURE = Made("Exception")
"""Some exception, caught and kept."""
POINTS = ("date", "datetime")

_HAS: dict[str, frozenset[str]] = {
    "date": frozenset(dir(datetime.date)),
    "datetime": frozenset(dir(datetime.datetime)),
    "time": frozenset(dir(datetime.time)),
    "timedelta": frozenset(dir(datetime.timedelta)),
    "ToolError": frozenset(dir(Exception)) | {"status", "body", "__notes__"},
}
_PARTS = dict.fromkeys(
    ["year", "month", "day", "hour", "minute", "second", "microsecond", "days", "seconds", "microseconds"], INT
)
_METHODS: dict[str, Type] = {
    **dict.fromkeys(["isoformat", "strftime", "ctime", "tzname"], STR),
    **dict.fromkeys(["weekday", "isoweekday", "toordinal"], INT),
    **dict.fromkeys(["timestamp", "total_seconds"], FLOAT),
    "date": DATE,
    "time": TIME,
}
_SAME = {"replace", "astimezone"}
_PURE = {"replace", "isoformat", "strftime", "weekday", "isoweekday", "toordinal", "total_seconds", "date", "time"}
_BUILDERS: dict[str, Callable[..., Any]] = {
    "datetime.date": datetime.date,
    "datetime.datetime": datetime.datetime,
    "datetime.time": datetime.time,
    "datetime.timedelta": datetime.timedelta,
    "datetime.date.fromisoformat": datetime.date.fromisoformat,
    "datetime.datetime.fromisoformat": datetime.datetime.fromisoformat,
    "datetime.datetime.strptime": datetime.datetime.strptime,
    "datetime.datetime.combine": datetime.datetime.combine,
    "datetime.date.fromordinal": datetime.date.fromordinal,
}

MAKERS: dict[str, Type] = {
    **dict.fromkeys(["datetime.date", "datetime.date.today", "datetime.date.fromtimestamp"], DATE),
    **dict.fromkeys(["datetime.date.fromordinal", "datetime.date.fromisocalendar"], DATE),
    **dict.fromkeys([f"datetime.datetime{name}" for name in ("", ".now", ".utcnow", ".today")], DATETIME),
    **dict.fromkeys(["datetime.datetime.fromtimestamp", "datetime.datetime.combine"], DATETIME),
    **dict.fromkeys(["datetime.time"], TIME),
    "datetime.timedelta": SPAN,
}
"""Calls that give a moment or a span, whatever they are given."""
_READERS: dict[str, Type] = {
    "datetime.date.fromisoformat": DATE,
    "datetime.datetime.fromisoformat": DATETIME,
    "datetime.datetime.strptime": DATETIME,
    "datetime.time.fromisoformat": TIME,
}
_DAY = "[0-9]{4}-?(W[0-9]{2}(-?[1-7])?|[0-9]{2}-?[0-9]{2})"
_READABLE = {
    "datetime.date.fromisoformat": f"^{_DAY}$",
    "datetime.datetime.fromisoformat": f"^{_DAY}{forms.ANYTHING}$",
}


def attributes_of(value: Made) -> frozenset[str] | None:
    """The attributes of an object of the standard library; None where we do not know them."""
    return _HAS.get(value.name)


def attribute_of(value: Made, name: str) -> Type:
    """What stands under an attribute."""
    if value.name == "ToolError":
        return STR if name == "body" else ANY
    exact = computed(lambda moment: getattr(moment, name), [value]) if name in _PARTS else None
    return exact if exact is not None else _PARTS.get(name, ANY)


def call_method(value: Made, name: str, arguments: Arguments) -> Type:
    """What a method gives."""
    if value.name not in ("date", "datetime", "time", "timedelta"):
        return ANY
    found = _of_constant(value, name, arguments) if arguments.sure else None
    if found is not None:
        return found
    if name == "isoformat" and not arguments.values and not arguments.named:
        return Atom("str", pattern=forms.isoformat(value.name))
    if name == "strftime" and isinstance(form := only(arguments.values[0]) if arguments.values else None, str):
        return formed([forms.written(form) or forms.ANYTHING])
    return Made(value.name) if name in _SAME else _METHODS.get(name, ANY)


def _of_constant(value: Made, name: str, arguments: Arguments) -> Type | None:
    if name not in _PURE:
        return None
    return _with_named(
        lambda moment, *rest, **named: getattr(moment, name)(*rest, **named),
        [value, *arguments.values],
        arguments.named,
    )


def _with_named(function: Callable[..., Any], values: Sequence[Type], named: dict[str, Type]) -> Type | None:
    """`computed` for a function that is given some operands by name."""
    names, count = list(named), len(values)
    return computed(
        lambda *given: function(*given[:count], **dict(zip(names, given[count:], strict=True))),
        [*values, *named.values()],
    )


def made_of(name: str, values: Sequence[Type], named: dict[str, Type]) -> Type | None:
    """A moment or a span that is made of constants."""
    function = _BUILDERS.get(name)
    return _with_named(function, values, named) if function is not None and (values or named) else None


def read_text(core: Core, name: str, arguments: Arguments) -> Type | None:
    """`date.fromisoformat(text)` and the like; None for any other function."""
    if name not in _READERS:
        return None
    first = arguments.first()
    if first is not None:
        if all(isinstance(m, Record | Array | Mapped | Listing | Tuple | Iterating) for m in members(first[0])):
            if not core.catches("TypeError"):
                message = f"{name.rsplit('.', 1)[-1]}() reads a string, and {spelled(first[1])} is none."
                core.report("wrong-operand", first[1], message)
            return _READERS[name]
        what = name.rsplit(".", 1)[-1]
        value = need_value(core, first[0], first[1], f"{what}() fails on None")
        kinds = {getattr(member, "name", "object") for member in members(value)}
        wrong = value is not ANY and not kinds & {"str", "object"} and kinds <= {"int", "float", "number", *_HAS}
        if wrong and not core.catches("TypeError"):
            message = f"{what}() reads a string, and {spelled(first[1])} is none."
            core.report("wrong-operand", first[1], message)
        else:
            _check_form(core, name, value, first[1], arguments)
    return _READERS[name]


def _check_form(core: Core, name: str, value: Type, node: ast.expr, arguments: Arguments) -> None:
    """A text that can never be read: every value of it, or its form, is another one than is read."""
    form = only(arguments.values[1]) if len(arguments.values) == 2 else None
    wanted = _READABLE.get(name) if len(arguments.values) == 1 else forms.read(form) if isinstance(form, str) else None
    if wanted is None or not texts_apart(value, Atom("str", pattern=wanted)):
        return
    if core.catches("ValueError"):
        return
    what = f"the form {form!r}" if form is not None else f"what {name.rsplit('.', 1)[-1]}() reads"
    core.report("wrong-operand", node, f"{spelled(node)} never has {what}: it is {form_of(value)}.")


def operate(op: ast.operator, left: str, right: str) -> Type | None:
    """The type of an operation of which a moment or span takes part, by categories; None where it fails."""
    match op:
        case ast.Add():
            pairs = {("timedelta", "timedelta"): SPAN}
            pairs |= {(point, "timedelta"): Made(point) for point in POINTS}
            pairs |= {("timedelta", point): Made(point) for point in POINTS}
            return pairs.get((left, right))
        case ast.Sub():
            pairs = {(point, point): SPAN for point in POINTS} | {("timedelta", "timedelta"): SPAN}
            return (pairs | {(point, "timedelta"): Made(point) for point in POINTS}).get((left, right))
        case ast.Mult():
            return SPAN if {left, right} == {"timedelta", "number"} else None
        case ast.Div() | ast.FloorDiv():
            same = FLOAT if isinstance(op, ast.Div) else INT
            return {("timedelta", "number"): SPAN, ("timedelta", "timedelta"): same}.get((left, right))
        case ast.Mod():
            # A string on the left is formatted with what stands on the right.
            return STR if left == "str" else SPAN if (left, right) == ("timedelta", "timedelta") else None
        case _:
            return None
