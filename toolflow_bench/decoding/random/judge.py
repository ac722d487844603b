"""Whether a text is a valid call, judged without a grammar: JSON and Python parsed, names exact, schemas validated."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from atc.decode.formats import CallFormat
from protocols.jsontypes import Json
from protocols.parsing import parse_expression
from protocols.schema import violations
from protocols.toolbox import Tool

_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Below these, keys are names that somebody chose."""
_VALUES = frozenset({"enum", "const", "default", "examples"})


class _Wrong(Exception):
    """Why a text is no valid call."""


def problems(text: str, form: CallFormat, tools: Mapping[str, Tool]) -> list[str]:
    """What is wrong with `text`, which should be one call, or with `form.trigger` calls amid text; empty: nothing."""
    try:
        if not form.trigger:
            if form.name == "react" and text.startswith("Thought:"):
                text = text[text.find("\nAction:") + 1 :]
            rest = _call(text, form, tools)
            return [] if not rest else [f"{rest[:60]!r} follows the call"]
        _, *parts = text.split(form.trigger)
        if not parts:
            return [f"there is no {form.trigger!r}"]
        while form.trigger in text:
            text = _call(text.partition(form.trigger)[2], form, tools)
    except _Wrong as wrong:
        return [str(wrong)]
    return []


def without_unique_items(tools: Mapping[str, Tool]) -> Mapping[str, Tool]:
    """The same tools by the same aliases, whose arrays may hold an item twice."""
    return {
        alias: replace(tool, protocol=replace(tool.protocol, input_schema=_lenient(tool.protocol.input_schema)))
        for alias, tool in tools.items()
    }


def _lenient(schema: Any, *, named: bool = False) -> Any:
    match schema:
        case Mapping():
            return {
                key: part if not named and key in _VALUES else _lenient(part, named=not named and key in _NAMED)
                for key, part in schema.items()
                if named or key != "uniqueItems"
            }
        case list() | tuple():
            return [_lenient(part) for part in schema]
    return schema


def _call(text: str, form: CallFormat, tools: Mapping[str, Tool]) -> str:
    """Judge the call that `text` begins with; gives what follows it."""
    if not text.startswith(form.before):
        raise _Wrong(f"it does not begin with {form.before!r}")
    name, found, rest = text[len(form.before) :].partition(form.between)
    if not found:
        raise _Wrong(f"no {form.between!r} follows the name")
    if name not in tools:
        raise _Wrong(f"there is no tool {name[:80]!r}")
    tool = tools[name]
    match form.arguments:
        case "json":
            arguments, rest = _json(rest)
        case "positional":
            given, rest = _python(name, rest, form)
            if given.keywords:
                raise _Wrong("an argument has a name")
            arguments = _in_order(tool, [_literal(node) for node in given.args])
        case "keywords":
            given, rest = _python(name, rest, form)
            if given.args:
                raise _Wrong("an argument has no name")
            arguments = {str(word.arg): _literal(word.value) for word in given.keywords}
            if len(arguments) < len(given.keywords):
                raise _Wrong("an argument is given twice")
    if not rest.startswith(form.after):
        raise _Wrong(f"{rest[:60]!r} follows the arguments, not {form.after!r}")
    _conform(tool, arguments)
    return rest[len(form.after) :]


def _json(text: str) -> tuple[dict[str, Json], str]:
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise _Wrong(f"the arguments are no JSON: {error}") from None
    if not isinstance(value, dict):
        raise _Wrong("the arguments are no object")
    return value, text[end:]


def _once(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant)


def _python(name: str, rest: str, form: CallFormat) -> tuple[ast.Call, str]:
    """The call as Python reads it, and what stands from `form.after` on: at the first end that makes it whole."""
    end = rest.find(form.after)
    error: Exception = _Wrong(f"{form.after!r} is nowhere")
    while end >= 0:
        try:
            parsed = parse_expression(f"{name}({rest[:end]})").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as raised:
            error = raised
        else:
            if isinstance(parsed, ast.Call) and isinstance(parsed.func, ast.Name) and parsed.func.id == name:
                return parsed, rest[end:]
        end = rest.find(form.after, end + 1)
    raise _Wrong(f"the arguments are no Python: {error}")


def _literal(node: ast.expr) -> Json:
    """The value of a literal that JSON has too; keys are texts, each once."""
    match node:
        case ast.Constant(value=str() | int() | float() | None):
            return node.value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)) if not isinstance(
            number, bool
        ):
            return -number
        case ast.BinOp(op=ast.Div()):
            return _quotient(node)
        case ast.List():
            return [_literal(element) for element in node.elts]
        case ast.Dict():
            keys = [_literal(key) if key is not None else None for key in node.keys]
            if not all(isinstance(key, str) for key in keys):
                raise _Wrong("a key is no text")
            return _unique(keys, [_literal(element) for element in node.values])
    raise _Wrong(f"{ast.unparse(node)[:60]!r} is no literal")


def _quotient(node: ast.BinOp) -> Json:
    """FuncQA writes fractions, `4/3`."""
    above, below = _literal(node.left), _literal(node.right)
    if not all(isinstance(part, int | float) and not isinstance(part, bool) for part in (above, below)):
        raise _Wrong("what is divided is no number")
    try:
        return above / below
    except ArithmeticError as error:
        raise _Wrong(str(error)) from None


def _unique(keys: Sequence[Any], values: Sequence[Json]) -> Json:
    try:
        return _once(list(zip(keys, values, strict=True)))
    except ValueError as error:
        raise _Wrong(str(error)) from None


def _in_order(tool: Tool, values: list[Json]) -> dict[str, Json]:
    names = list(tool.arguments)
    last: Any = tool.protocol.parameters[tool.arguments[names[-1]]] if names else {}
    if isinstance(last, Mapping) and last.get("x-variadic") is True:
        before = len(names) - 1
        values = [*values[:before], values[before:]] if len(values) >= before else values
    if len(values) > len(tool.arguments):
        raise _Wrong(f"{len(values)} arguments are given, {len(tool.arguments)} are known")
    return dict(zip(tool.arguments, values, strict=False))


def _conform(tool: Tool, arguments: Mapping[str, Json]) -> None:
    extra = [name for name in arguments if name not in tool.arguments]
    more = tool.protocol.input_schema.get("additionalProperties", False)
    if extra and more is False and not tool.protocol.input_schema.get("patternProperties"):
        raise _Wrong(f"there is no argument {extra[0][:60]!r}")
    if missing := sorted(tool.required - set(arguments)):
        raise _Wrong(f"the argument {missing[0]!r} is missing")
    original = tool.original(arguments)
    if len(original) < len(arguments):
        raise _Wrong("two arguments mean the same one")
    if odd := _odd(original):
        raise _Wrong(odd)
    if broken := violations(tool.protocol.input_schema, original):
        first = broken[0]
        raise _Wrong(f"{first.path or 'the arguments'}: {first.message[:200]} ({first.clause})")


def _odd(value: Json) -> str:
    """What no JSON text can carry from one program to the next: halves of characters, and numbers without an end."""
    match value:
        case str():
            return "half a character (a lone surrogate)" if any("\ud800" <= c <= "\udfff" for c in value) else ""
        case float():
            return "" if math.isfinite(value) else f"the number {value}"
        case list():
            return next(filter(None, map(_odd, value)), "")
        case dict():
            return next(filter(None, (_odd(part) for pair in value.items() for part in pair)), "")
    return ""
