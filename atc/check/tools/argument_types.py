"""Does a value of a known type fit an argument's schema?"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from atc.check.known.core import Core
from atc.check.known.fields import field_type
from atc.check.known.kinds import ANY, FLOAT, Atom, Null, Record, Type
from atc.check.known.lattice import members
from atc.check.known.nulls import need_value
from atc.check.known.words import described, json_types
from atc.check.report import listed, nearest, spelled
from atc.check.tools.argument_texts import check_some, form_misfit
from atc.check.tools.literals import KIND, misfit
from atc.check.tools.nested import inside_misfit
from protocols.schema import resolve, types
from protocols.toolbox import Tool

_MOST_SHOWN = 6


def check_value(core: Core, tool: Tool, name: str, keyword: ast.keyword, value: Type) -> None:
    """Check what a call passes as the argument that the tool itself calls `name`."""
    schema, root = tool.protocol.parameters[name], tool.protocol.input_schema
    if not isinstance(schema, Mapping):
        return
    known, constant = _constant(keyword.value)
    if known:
        if constant is None and name not in tool.protocol.required:
            return
        if found := misfit(constant, schema, root):
            better = f" Write {keyword.arg}={found.better}." if found.better else ""
            shown = spelled(keyword.value, most=40)
            message = f"argument {keyword.arg!r} of {tool.alias} must be {found.wanted}, not {shown}.{better}"
            core.report("bad-literal", keyword.value, message, tool=tool.alias, better=found.better)
        return
    if name in tool.protocol.required and _takes_no_null(schema, root) and not core.catches_by_name("ToolError"):
        value = need_value(core, value, keyword.value, f"argument {keyword.arg!r} of {tool.alias} takes no None")
    _check_type(core, tool, keyword, value, schema)


def _takes_no_null(schema: Any, root: Mapping[str, Any]) -> bool:
    """Whether a None is certainly refused. One that may be left out may be None: then it is left out."""
    allowed = _allowed(schema, root, 0)
    return allowed is not None and "null" not in allowed and misfit(None, schema, root) is not None


def _constant(node: ast.expr) -> tuple[bool, Any]:
    """Whether the expression is a JSON constant, and which."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False, None
    return isinstance(value, None | bool | int | float | str | list | dict), value


def _check_type(core: Core, tool: Tool, keyword: ast.keyword, value: Type, schema: Mapping[str, Any]) -> None:
    root = tool.protocol.input_schema
    possible = [member for member in members(value) if not isinstance(member, Null)]
    if not possible:
        return
    misfits = [_misfit(core, member, schema, root, 0) for member in possible]
    if all(misfits):
        wanted, better = misfits[0] or ("", None)
        shown = spelled(keyword.value, most=40)
        is_now = " or ".join(dict.fromkeys(_now(member) for member in possible))
        message = f"argument {keyword.arg!r} of {tool.alias} must be {wanted}; {shown} is {is_now}."
        key = _likely_key(keyword.arg or "", possible[0], schema, root) if len(possible) == 1 else None
        if key is not None:
            better = f"{shown}[{key!r}]"
            message += f" Write {keyword.arg}={better}."
        elif better is not None and isinstance(possible[0], Atom):
            message += f" Write {better}."
        core.report("wrong-argument-type", keyword.value, message, tool=tool.alias, better=better)
    elif FLOAT in possible and (_allowed(schema, root, 0) or set()) - {"null"} == {"integer"}:
        shown = spelled(keyword.value, most=40)
        better = f"round({shown})"
        message = (
            f"argument {keyword.arg!r} of {tool.alias} must be a whole number, and {shown} may have a fraction. "
            f"Write {better}."
        )
        core.report("wrong-argument-type", keyword.value, message, tool=tool.alias, better=better, certain=False)
    elif not any(misfits):
        check_some(core, tool, keyword, value, schema)


def _now(member: Type) -> str:
    """What a value is, and its form where that is what does not fit."""
    if isinstance(member, Atom) and member.values is not None and len(member.values) <= _MOST_SHOWN:
        return listed([repr(value) for value in member.values])
    if isinstance(member, Atom) and member.pattern is not None:
        return f"a string that matches the pattern {member.pattern!r}"
    return described(member)


def _misfit(core: Core, value: Type, schema: Any, root: Mapping[str, Any], depth: int) -> tuple[str, str | None] | None:
    """Why no value of this type fits, or what it holds does not, or None."""
    return _atom_misfit(value, schema, root) or inside_misfit(core, value, schema, root, depth, _misfit)


def _atom_misfit(value: Type, schema: Any, root: Mapping[str, Any]) -> tuple[str, str | None] | None:
    """Why no value of this type fits, or None."""
    if isinstance(value, Atom) and value.values is not None:
        found = [misfit(constant, schema, root) for constant in value.values]
        return (found[0].wanted, found[0].better) if found[0] and all(found) else None
    if isinstance(value, Atom) and value.pattern is not None:
        other = form_misfit(value.pattern, schema, root)
        if other is not None:
            return other.wanted, None
    names = json_types(value)
    allowed = _allowed(schema, root, 0)
    if names is None or allowed is None or names & allowed:
        return None
    return " or ".join(KIND.get(name, name) for name in sorted(allowed)), None


def _allowed(schema: Any, root: Mapping[str, Any], depth: int) -> set[str] | None:
    """The JSON types that a schema admits; None where it is open."""
    if not isinstance(schema, Mapping) or depth > 6:
        return None
    resolved = resolve(schema, root)
    for key in ("anyOf", "oneOf"):
        if resolved.get(key):
            parts = [_allowed(part, root, depth + 1) for part in resolved[key]]
            return None if any(part is None for part in parts) else set().union(*(part for part in parts if part))
    if len(resolved.get("allOf") or ()) == 1 and not types(resolved):
        return _allowed(resolved["allOf"][0], root, depth + 1)
    return set(types(resolved)) or None


def _likely_key(argument: str, value: Type, schema: Any, root: Mapping[str, Any]) -> str | None:
    """The key of an object that was passed whole whose value the argument wants."""
    if not isinstance(value, Record):
        return None
    fitting = []
    for key in value.shape.properties:
        found = field_type(value, key)
        if found is not None and found is not ANY and _atom_misfit(members(found)[0], schema, root) is None:
            fitting.append(key)
    if argument in fitting:
        return argument
    return nearest(argument, fitting) or next((key for key in ("id", "code", "name") if key in fitting), None)
