"""A function's annotations and docstring as JSON Schema and text, and JSON arguments as what annotations ask for."""

from __future__ import annotations

import contextlib
import inspect
import json
import re
import types
import typing
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
from pydantic_core import to_jsonable_python


@dataclass(frozen=True)
class Signature:
    """The JSON side of a function: its arguments' object schema, its result's, and how arguments are read."""

    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    adapters: Mapping[str, TypeAdapter[Any]]
    """Of each annotated argument, what makes of a JSON value the one that it wants."""


def read_signature(function: Callable[..., Any]) -> Signature:
    """What a function's annotations say; an annotation that has no JSON Schema says nothing."""
    hints = _hints(function)
    unnamed = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    named = {n: p for n, p in inspect.signature(function).parameters.items() if p.kind not in unnamed}
    adapters = {name: adapter for name in named if (adapter := _adapter(hints.get(name, Any))) is not None}
    result = _adapter(hints.get("return", Any))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a default that has no JSON form is left out, with a warning
        by_key, shared = TypeAdapter.json_schemas([(name, "validation", a) for name, a in adapters.items()])
        output = result.json_schema(mode="serialization") if result is not None else None
    schemas = {str(name): schema for (name, _), schema in by_key.items()}
    properties = {name: dict(schemas.get(name, {})) for name in named}
    for name, parameter in named.items():
        if parameter.default is not inspect.Parameter.empty:
            with contextlib.suppress(ValueError):  # it has no JSON form, as an object of one's own, or infinity
                default = to_jsonable_python(parameter.default)
                json.dumps(default, allow_nan=False)
                properties[name]["default"] = default
    input_schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required := [name for name, p in named.items() if p.default is inspect.Parameter.empty]:
        input_schema["required"] = required
    if definitions := shared.get("$defs", {}):
        input_schema["$defs"] = definitions
    return Signature(input_schema, output, adapters)


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations that can be evaluated, each alone: one may need a name that only type checkers import."""
    origin: Any = inspect.unwrap(function)
    found: dict[str, Any] = {}
    for name, annotation in getattr(origin, "__annotations__", {}).items():
        one = types.SimpleNamespace(__annotations__={name: annotation})
        with contextlib.suppress(NameError, TypeError, AttributeError, SyntaxError):
            found |= typing.get_type_hints(one, globalns=origin.__globals__, include_extras=True)
    return found


def _adapter(annotation: Any) -> TypeAdapter[Any] | None:
    """How values of an annotation are read and described; `None` where it says nothing, or pydantic has no schema."""
    if annotation is Any:
        return None
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            adapter.json_schema(mode="serialization")
            adapter.json_schema(mode="validation")
    except (PydanticSchemaGenerationError, PydanticUserError, TypeError, RecursionError):
        return None
    return adapter


# --- docstrings

_READ_ONLY = re.compile(r"\s*read_only\s*=\s*True\s*")
_SECTION = re.compile(r"[A-Z]\w*( [A-Z]\w*)?:\s*$|:\w+")
_ARGUMENTS = ("args:", "arguments:", "parameters:")
_SPHINX = re.compile(r":param\s+(?:[^:]*\s)?(\w+):\s*(.*)$")
_NAMED = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?:\s*(.*)$")


class Documented(NamedTuple):
    """The description (first paragraph, on one line), each argument's text, and whether it says `read_only = True`."""

    description: str
    arguments: dict[str, str]
    read_only: bool


def read_docstring(text: str | None) -> Documented:
    """What a docstring says, in Google's or Sphinx's style; empty where there is none."""
    lines = inspect.cleandoc(text or "").splitlines()
    kept = [line for line in lines if not _READ_ONLY.fullmatch(line)]
    first: list[str] = []
    for line in kept:
        if (not line.strip() and first) or _SECTION.match(line):
            break
        first.append(line.strip())
    return Documented(" ".join(first).strip(), _arguments(kept), len(kept) < len(lines))


def _arguments(lines: list[str]) -> dict[str, str]:
    """Google's `name (type): text`, indented under `Args:`, or Sphinx's `:param name: text`."""
    found: dict[str, str] = {}
    name, inside, depth = "", False, 0  # `name` is the one that the next line goes on about
    for line in filter(str.strip, lines):
        text, indent = line.strip(), len(line) - len(line.lstrip())
        if match := _SPHINX.match(text):
            name, found[match[1]] = match[1], match[2]
        elif indent == 0:
            inside, name, depth = text.lower() in _ARGUMENTS, "", 0
        elif inside and (match := _NAMED.match(text)) and indent == (depth := depth or indent):
            name, found[match[1]] = match[1], match[2]
        elif name:
            found[name] = f"{found[name]} {text}".strip()
    return found
