"""Format specifications such as `:.2f`, and what they take."""

from __future__ import annotations

import ast

from atc.check.core import Core
from atc.check.kinds import Type
from atc.check.lattice import members
from atc.check.operators import category
from atc.check.report import spelled
from atc.check.words import described

_FOR_NUMBERS = frozenset("bcdeEfFgGnoxX%")


def check_format(core: Core, value: Type, node: ast.FormattedValue) -> None:
    """Report a value that the specification, which is not empty, does not take."""
    kind = category(value)
    match node.format_spec:
        case ast.JoinedStr(values=[*_, ast.Constant(value=str(spec))]):
            numeric = spec[-1:] in _FOR_NUMBERS
        case _:
            return
    wrong = kind in ("dict", "list") or (kind == "str" and numeric)
    if not wrong or core.catches("TypeError", "ValueError", "Exception", "BaseException"):
        return
    text = spelled(node.value)
    better = f"float({text})" if kind == "str" else None
    then = f" Write {better}." if better else ""
    message = f"{text} is {described(members(value)[0])}, which the format {spec!r} does not take.{then}"
    core.report("wrong-operand", node.value, message, better=better)
