"""Format specifications such as `:.2f`, and what they take."""

from __future__ import annotations

import ast
import re

from atc.check.known.core import Core
from atc.check.known.kinds import Atom, Type
from atc.check.known.lattice import members
from atc.check.known.words import described
from atc.check.operations.operators import category
from atc.check.operations.specs import refuses
from atc.check.report import spelled

_NUMERIC = re.compile(r"[^a-zA-Z%]*[bcdeEfFgGnoxX%]")
_FOR_NUMBERS = frozenset("bcdeEfFgGnoxX%")


def check_format(core: Core, value: Type, node: ast.FormattedValue) -> None:
    """Report a value that the specification, which is not empty, does not take."""
    kind = category(value)
    match node.format_spec:
        case ast.JoinedStr(values=[ast.Constant(value=str(spec))]):
            wrong = kind in ("dict", "list") or refused(value, spec)
        case ast.JoinedStr(values=[*_, ast.Constant(value=str(spec))]):
            wrong = kind in ("dict", "list") or (kind == "str" and spec[-1:] in _FOR_NUMBERS)
        case _:
            return
    if wrong:
        report_refused(core, value, spec, node.value)


def refused(value: Type, spec: str) -> bool:
    """Whether no alternative of a value takes the specification."""
    kinds = {member.name if isinstance(member, Atom) else category(member) or "" for member in members(value)}
    return all(refuses(kind, spec) for kind in kinds)


def report_refused(core: Core, value: Type, spec: str, node: ast.expr) -> None:
    """Say that a value is not of a kind that the specification takes."""
    if core.catches("TypeError", "ValueError"):
        return
    text = spelled(node)
    better = f"float({text})" if category(value) == "str" and _NUMERIC.fullmatch(spec) else None
    then = f" Write {better}." if better else ""
    message = f"{text} is {described(members(value)[0])}, which the format {spec!r} does not take.{then}"
    core.report("wrong-operand", node, message, better=better)
