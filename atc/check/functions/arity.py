"""Calls of the program's own functions with arguments that they do not take."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from atc.check.known.core import Core
from atc.check.known.kinds import Function
from atc.check.known.objects import ClassShape
from atc.check.report import listed


def report_call(core: Core, function: Function, count: int, named: Iterable[str], node: ast.expr) -> None:
    """Report a call, of which every argument is known, that does not fit the function's parameters."""
    if core.catches("TypeError"):
        return
    found = _misfit(function, count, set(named))
    if found is not None:
        code, what = found
        name = getattr(function.node, "name", "the lambda")
        core.report(code, node, f"{name} takes {_signature(function)}; {what}.")


def report_made(core: Core, shape: ClassShape, count: int, named: Iterable[str], node: ast.expr) -> None:
    """Report a call of a dataclass or named tuple that does not fit its fields."""
    fields, given = shape.fields or (), set(named)
    missing = [name for name in fields[count:] if name not in given and name not in shape.members]
    if count > len(fields):
        code, what = "positional-argument", f"here it is made with {count} values by position"
    elif unknown := given - set(fields):
        code, what = "unknown-argument", f"here it is made with {listed(sorted(unknown))}"
    elif doubled := given & set(fields[:count]):
        code, what = "doubled-argument", f"{listed(sorted(doubled))} is given twice here"
    elif missing:
        code, what = "missing-argument", f"here it is made without {listed(missing)}"
    else:
        return
    if not core.catches("TypeError"):
        core.report(code, node, f"{shape.name} has the fields {listed(fields)}; {what}.")


def _misfit(function: Function, count: int, named: set[str]) -> tuple[str, str] | None:
    """The code of what is wrong with a call, and in words what that is."""
    arguments = function.node.args
    places = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    by_name = {argument.arg for argument in (*arguments.args, *arguments.kwonlyargs)}
    if count > len(places) and arguments.vararg is None:
        return "positional-argument", f"here it is called with {count} values by position"
    if (doubled := named & set(places[:count]) & by_name) and arguments.kwarg is None:
        return "doubled-argument", f"{listed(sorted(doubled))} is given twice here"
    if (unknown := named - by_name) and arguments.kwarg is None:
        return "unknown-argument", f"here it is called with {listed(sorted(unknown))}"
    optional = len(arguments.defaults)
    needed = places[: len(places) - optional][count:]
    needed += [
        argument.arg
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is None
    ]
    missing = [name for name in needed if name not in named]
    return ("missing-argument", f"here it is called without {listed(missing)}") if missing else None


def _signature(function: Function) -> str:
    text = ast.unparse(function.node.args)
    return f"({text})" if text else "no arguments"
