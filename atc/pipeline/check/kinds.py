"""Functions on the types that the static check infers for values.

They handle known constants, exclusion of None, JSON types, and words for messages. A type may have
several alternatives, such as a string or None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atc.core.messages import format_list
from atc.pipeline.check.response_location import ResponseLocation
from atc.pipeline.check.types import (
    ANY,
    INT,
    NEVER,
    NONE,
    NUMBERS,
    Array,
    Atom,
    Function,
    Iterating,
    Listing,
    Mapped,
    Null,
    Record,
    ToolRef,
    Tuple,
    Type,
    Union,
    join,
    join_all,
    members,
)

_LONGEST_INTEGER = 10_000
"""Largest integer, in bits, whose value the check knows.

Python refuses to convert longer ones to decimal text.
"""


def keep_matching(value: Type, wanted: Callable[[Type], bool]) -> Type:
    """Return the type `value` with only those of its alternatives for which `wanted` is true.

    If none remains, the inferred type must have been wrong, and the result is `ANY`.
    """
    kept = [member for member in members(value) if wanted(member)]
    return join(*kept) if kept else ANY


def not_none(value: Type) -> Type:
    """Return the type `value` without the alternative None.

    A type that allows only None is returned unchanged.
    """
    return (
        keep_matching(value, lambda member: not isinstance(member, Null))
        if isinstance(value, Union)
        else value
    )


def assume_not_none(value: Type) -> Type:
    """Return the type `value` after a test has shown that it is not None.

    The result is `NEVER` if the value can only be None, because the code after the test is then
    never reached.
    """
    return NEVER if isinstance(value, Null) else not_none(value)


def null_origins(value: Type) -> set[ResponseLocation]:
    """Return the response fields that can be null and therefore allow None in this type."""
    nulls = [member for member in members(value) if isinstance(member, Null)]
    return {null.origin for null in nulls if null.origin is not None}


def forget_constants(value: Type) -> Type:
    """Return the type `value` without its known constants.

    For example, the type of the constant `"a"` becomes that of any string.
    """
    return join_all(
        Atom(m.name) if isinstance(m, Atom) and m.values is not None else m for m in members(value)
    )


def type_of_constant(value: Any) -> Type:
    """Return the type of a Python constant such as `"a"` or 3."""
    if value is None:
        return NONE
    name = type(value).__name__
    if isinstance(value, int) and value.bit_length() > _LONGEST_INTEGER:
        return INT
    return Atom(name, (value,)) if name in ("str", "int", "float", "bool", "bytes") else ANY


def constant(value: Type) -> Any:
    """Return the only value that a type allows, as for the constant `"a"`.

    Return None if there is not exactly one.
    """
    return (
        value.values[0]
        if isinstance(value, Atom) and value.values and len(value.values) == 1
        else None
    )


_ATOMS = {
    "str": "a string",
    "bool": "a bool",
    "int": "an integer",
    "float": "a number",
    "number": "a number",
}


_MOST_SHOWN = 6


def category(value: Type) -> str | None:
    """Return the category of a type: `number`, `str`, `list`, `dict`, `tuple` or `function`.

    Return None if the alternatives of the type belong to several categories, or to none.
    """
    found = {_category(member) for member in members(value)}
    return found.pop() if len(found) == 1 else None


def _category(member: Type) -> str | None:
    match member:
        case Atom("str"):
            return "str"
        case Atom(name) if name in NUMBERS:
            return "number"
        case Array() | Listing(kind="list"):
            return "list"
        case Record():
            return "dict"
        case Tuple():
            return "tuple"
        case ToolRef() | Function():
            return "function"
        case _:
            return None


_JSON = {
    "str": {"string"},
    "list": {"array"},
    "tuple": {"array"},
    "dict": {"object"},
    "number": {"integer", "number"},
}


def json_types(value: Type) -> set[str] | None:
    """Return the JSON types that a value of this type can have, or None if they are unknown."""
    match value:
        case Mapped():
            return {"object"}
        case Null():
            return {"null"}
        case Atom("bool"):
            return {"boolean"}
        case _:
            # A whole float is an integer in JSON.
            return _JSON.get(category(value) or "")


def describe_value(value: Type) -> str:
    """Return words for a value of this type in a message, such as `a list`.

    If the type has several alternatives, the first one is described.
    """
    match members(value)[0]:
        case Atom(name):
            return _ATOMS.get(name, name)
        case Record(origin=origin):
            return f"an object ({origin})"
        case Array(origin=origin):
            return f"a list ({origin})"
        case Mapped():
            return "a dict"
        case Listing(kind=kind) | Iterating(kind=kind):
            return f"a {kind}"
        case Tuple():
            return "a tuple"
        case ToolRef() | Function():
            return "a function that was not called"
        case Null():
            return "None"
        case _:
            return "a value of another kind"


def describe_value_in_detail(value: Type) -> str:
    """Return words for a value of this type, with its possible values or its pattern, if known."""
    if isinstance(value, Atom) and value.values is not None and len(value.values) <= _MOST_SHOWN:
        return format_list([repr(known) for known in value.values])
    if isinstance(value, Atom) and value.pattern is not None:
        return f"a string that matches the pattern {value.pattern!r}"
    return describe_value(value)
