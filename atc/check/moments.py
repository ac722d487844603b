"""Dates, times and spans of time, and the failure that a tool's call raises: what they have and how they add up."""

from __future__ import annotations

import ast
import datetime

from atc.check.arguments import Arguments
from atc.check.core import Core
from atc.check.kinds import ANY, FLOAT, INT, STR, Type
from atc.check.lattice import members
from atc.check.nulls import need_value
from atc.check.objects import Made
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


def attributes_of(value: Made) -> frozenset[str] | None:
    """The attributes of an object of the standard library; None where we do not know them."""
    return _HAS.get(value.name)


def attribute_of(value: Made, name: str) -> Type:
    """What stands under an attribute."""
    if value.name == "ToolError":
        return STR if name == "body" else ANY
    return _PARTS.get(name, ANY)


def call_method(value: Made, name: str) -> Type:
    """What a method gives."""
    if value.name not in ("date", "datetime", "time", "timedelta"):
        return ANY
    return value if name in _SAME else _METHODS.get(name, ANY)


def read_text(core: Core, name: str, arguments: Arguments) -> Type | None:
    """`date.fromisoformat(text)` and the like; None for any other function."""
    if name not in _READERS:
        return None
    first = arguments.first()
    if first is not None:
        what = name.rsplit(".", 1)[-1]
        value = need_value(core, first[0], first[1], f"{what}() fails on None")
        kinds = {getattr(member, "name", "object") for member in members(value)}
        wrong = value is not ANY and not kinds & {"str", "object"} and kinds <= {"int", "float", "number", *_HAS}
        if wrong and not core.catches("TypeError", "Exception", "BaseException"):
            message = f"{what}() reads a string, and {spelled(first[1])} is none."
            core.report("wrong-operand", first[1], message)
    return _READERS[name]


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
