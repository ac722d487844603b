"""Operators, methods and builtins on constants, within bounds of size; and the forms of the texts that they make."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

from atc.check.known import forms
from atc.check.known.constants import computed, known, only
from atc.check.known.kinds import STR, Atom, Type
from atc.check.known.lattice import members

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip
_METHODS = frozenset(
    {
        "lower", "upper", "strip", "lstrip", "rstrip", "title", "capitalize", "replace", "zfill", "ljust", "rjust",
        "center", "swapcase", "casefold", "removeprefix", "removesuffix", "startswith", "endswith", "isdigit",
        "isalpha", "isalnum", "isupper", "islower", "find", "rfind", "index", "rindex", "count",
    }
)  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "str": str, "int": int, "float": float, "round": round, "abs": abs, "len": len, "min": min, "max": max,
    "bool": bool, "math.floor": lambda x: int(x // 1), "math.ceil": lambda x: int(-(-x // 1)), "chr": chr, "ord": ord,
}  # fmt: skip
_CONVERSIONS: dict[int, Callable[[Any], str]] = {115: str, 114: repr, 97: ascii}
_WIDE = re.compile(r"\d{3}")
_MOST_POWER = 16
_MOST_FACTOR = 1000
_MOST_OPERANDS = 5


def operated(op: ast.operator, left: Type, right: Type) -> Type | None:
    """`left op right` of constants, or the form of a text that is put together; None where nothing is known."""
    function = _OPERATORS.get(type(op))
    if function is None:
        return None
    if known(left) is not None and known(right) is not None:
        found = computed(_bounded(function), [left, right])
        if found is not None:
            return found
    if isinstance(op, ast.Add) and _text(left) and _text(right):
        return formed([forms.piece(left), forms.piece(right)])
    return None


def _bounded(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`function` where it makes nothing large."""

    def apply(left: Any, right: Any) -> Any:
        if function is operator.pow and not (abs(left) <= _MOST_FACTOR and 0 <= right <= _MOST_POWER):
            raise OverflowError
        if isinstance(left, str | bytes) or isinstance(right, str | bytes):
            other = right if isinstance(left, str | bytes) else left
            if isinstance(other, int) and function is operator.mul and other > forms.MOST_CHARACTERS:
                raise OverflowError
            if function is operator.mod and _WIDE.search(str(left)):
                raise OverflowError
        return function(left, right)

    return apply


def _text(value: Type) -> bool:
    return all(isinstance(member, Atom) and member.name == "str" for member in members(value))


def formed(bodies: Sequence[str]) -> Type:
    """A text of these pieces."""
    pattern = forms.whole(bodies)
    return STR if pattern is None else Atom("str", pattern=pattern)


def called_method(name: str, text: Type, arguments: Sequence[Type]) -> Type | None:
    """`text.name(…)` of constants."""
    if name not in _METHODS or any(_large(argument) for argument in arguments):
        return None
    return computed(lambda value, *rest: getattr(value, name)(*rest), [text, *arguments])


def _large(argument: Type) -> bool:
    atom = known(argument)
    values = (*(atom.values or ()), *atom.reached) if atom is not None else ()
    return any(isinstance(value, int) and abs(value) > forms.MOST_CHARACTERS for value in values)


def called_function(name: str, arguments: Sequence[Type]) -> Type | None:
    """`name(…)` of constants, for a builtin that computes."""
    function = _FUNCTIONS.get(name)
    if function is None or not 1 <= len(arguments) <= _MOST_OPERANDS:
        return None
    return computed(function, arguments)


def spec_of(node: ast.FormattedValue) -> str | None:
    """The format of one place of an f-string; None where it is computed."""
    match node.format_spec:
        case None | ast.JoinedStr(values=[]):
            return ""
        case ast.JoinedStr(values=[ast.Constant(value=str(spec))]):
            return spec
        case _:
            return None


def written(value: Type, conversion: int, spec: str | None) -> Type:
    """The text of one place of an f-string, or its form."""
    if spec is None or _WIDE.search(spec):
        return STR
    change = _CONVERSIONS.get(conversion)
    found = computed(lambda part: format(change(part) if change else part, spec), [value])
    plain = change is None or (change is str and _text(value))
    return found or (formed([forms.piece(value, spec)]) if plain else STR)


def put_together(parts: Sequence[Type]) -> Type:
    """The text of an f-string of these, or its form."""
    if not parts:
        return STR
    found = computed(lambda *texts: "".join(texts), parts) if all(known(part) for part in parts) else None
    return found or formed([forms.piece(part) for part in parts])


def formatted(text: Type, values: Sequence[Type], named: dict[str, Type]) -> Type | None:
    """`text.format(…)` of constants."""
    form = only(text)
    if not isinstance(form, str) or _WIDE.search(form) or len(values) + len(named) > _MOST_OPERANDS:
        return None
    names = list(named)

    def fill(*given: Any) -> str:
        return form.format(*given[: len(values)], **dict(zip(names, given[len(values) :], strict=True)))

    return computed(fill, [*values, *named.values()])
