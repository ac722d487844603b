"""Does a text of a known form, or one of several constants, fit an argument's schema?"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from atc.check.known import forms
from atc.check.known.constants import known
from atc.check.known.core import Core
from atc.check.known.kinds import Null, Type
from atc.check.known.lattice import members
from atc.check.report import listed, spelled
from atc.check.source.memo import children, walk
from atc.check.tools.literals import Misfit, matches, misfit
from protocols.schema import resolve, types
from protocols.toolbox import Tool

_MOST_DEPTH = 6
_TESTS = (ast.If, ast.Assert, ast.Match, ast.Try)


def form_misfit(pattern: str, schema: Any, root: Mapping[str, Any], depth: int = 0) -> Misfit | None:
    """Why no text that matches the pattern fits, or None."""
    if not isinstance(schema, Mapping) or depth > _MOST_DEPTH:
        return None
    schema = resolve(schema, root)
    for part in schema.get("allOf") or ():
        if found := form_misfit(pattern, part, root, depth + 1):
            return found
    for key in ("anyOf", "oneOf"):
        parts = [part for part in schema.get(key) or () if _takes_text(part, root)]
        options = [form_misfit(pattern, part, root, depth + 1) for part in parts]
        if options and all(options):
            return Misfit(" or ".join(dict.fromkeys(option.wanted for option in options if option)))
    if types(schema) and "string" not in types(schema):
        return None
    choices = schema.get("enum")
    if isinstance(choices, list | tuple) and choices:
        texts = [choice for choice in choices if isinstance(choice, str)]
        never = texts and all(matches(pattern, text) is False for text in texts)
        return Misfit(f"one of {listed(map(repr, choices))}") if never else None
    return _other_form(pattern, schema)


def _takes_text(part: Any, root: Mapping[str, Any]) -> bool:
    named = types(resolve(part, root)) if isinstance(part, Mapping) else ()
    return not named or "string" in named


def _other_form(pattern: str, schema: Mapping[str, Any]) -> Misfit | None:
    wanted, name = schema.get("pattern"), schema.get("format")
    if isinstance(wanted, str) and wanted != pattern and forms.apart(pattern, wanted):
        return Misfit(f"a string that matches the pattern {wanted!r}")
    form = forms.of_format(name)
    if form is not None and form != pattern and forms.apart(pattern, form):
        return Misfit(
            "a date such as '2013-01-31'" if name == "date" else "a date and time such as '2013-01-31T08:30:00Z'"
        )
    shortest, longest = schema.get("minLength"), schema.get("maxLength")
    low, high = forms.text_lengths(pattern)
    if isinstance(longest, int) and 0 < longest < low:
        return Misfit(f"a string of at most {longest} characters")
    if isinstance(shortest, int) and high is not None and high < shortest:
        return Misfit(f"a string of at least {shortest} characters")
    return None


def check_some(core: Core, tool: Tool, keyword: ast.keyword, value: Type, schema: Mapping[str, Any]) -> None:
    """Report a value that comes in one of the turns of a loop, or from one of the branches of a choice, and misfits."""
    if core.catches("ToolError", "ValueError", "told"):
        return
    atoms = [atom for member in members(value) if (atom := known(member)) is not None]
    if len(atoms) != 1 or any(known(m) is None and not isinstance(m, Null) for m in members(value)):
        return
    atom, root = atoms[0], tool.protocol.input_schema
    # The first of a count may well be left out where something is tested.
    unsure = atom.loosely == 1 and atom.values is None
    if unsure or (atom.loosely == 2 and not _untested(core, keyword.value)):
        return
    for constant in atom.reached:
        found = misfit(constant, schema, root)
        if found is None:
            continue
        shown = spelled(keyword.value, most=40)
        comes = "may be" if atom.loosely else "is at some time"
        message = f"argument {keyword.arg!r} of {tool.alias} must be {found.wanted}; {shown} {comes} {constant!r}."
        certain = not atom.loosely and not core.shielded
        core.report("bad-literal", keyword.value, message, tool=tool.alias, better=found.better, certain=certain)
        return


def _untested(core: Core, value: ast.expr) -> bool:
    """Whether nothing around the call, in any function that is running, decides whether it comes about."""
    for node in (core.scopes.module, *core.active):
        for part in own(node):
            if isinstance(part, _TESTS) or (isinstance(part, ast.comprehension) and part.ifs):
                return False
            if isinstance(part, ast.IfExp | ast.BoolOp) and any(inner is value for inner in walk(part)):
                return part is value
    return True


def own(node: ast.AST) -> list[ast.AST]:
    """The parts of a scope that are not those of a function in it."""
    found: list[ast.AST] = []
    waiting = [*children(node)]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        found.append(part)
        waiting += children(part)
    return found
