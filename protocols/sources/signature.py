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

import docstring_parser
import typing_extensions
from pydantic import TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
from pydantic_core import to_jsonable_python


class Documented(NamedTuple):
    """The description (first paragraph, on one line), each argument's text, and whether it says `read_only = True`."""

    description: str
    arguments: dict[str, str]
    read_only: bool


@dataclass(frozen=True)
class Signature:
    """The JSON side of a function: its arguments' object schema, its result's, and how arguments are read."""

    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    adapters: Mapping[str, TypeAdapter[Any]]
    """Of each annotated argument, what makes of a JSON value the one that it wants."""
    documented: Documented


def read_signature(function: Callable[..., Any]) -> Signature:
    """What a function's annotations and docstring say; an annotation that has no JSON Schema says nothing."""
    hints, documented = _hints(function), read_docstring(inspect.getdoc(function))
    unnamed = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    named = {n: p for n, p in inspect.signature(function).parameters.items() if p.kind not in unnamed}
    adapters = {name: adapter for name in named if (adapter := _adapter(hints.get(name, Any))) is not None}
    result = _adapter(hints.get("return", Any))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a default that has no JSON form is left out, with a warning
        schemas, shared = TypeAdapter.json_schemas([(name, "validation", one) for name, one in adapters.items()])
        output = result.json_schema(mode="serialization") if result is not None else None
    properties, required = dict[str, Any](), list[str]()
    for name, parameter in named.items():
        properties[name] = schema = dict(schemas.get((name, "validation"), {}))
        if text := documented.arguments.get(name):
            schema.setdefault("description", text)
        if parameter.default is inspect.Parameter.empty:
            required.append(name)
        else:
            with contextlib.suppress(ValueError):  # it has no JSON form, as an object of one's own, or infinity
                default = to_jsonable_python(parameter.default)
                json.dumps(default, allow_nan=False)
                schema["default"] = default
    found = {"type": "object", "properties": properties, "required": required, "$defs": shared.get("$defs")}
    return Signature(
        {key: part for key, part in found.items() if part or key == "properties"}, output, adapters, documented
    )


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
        adapter: TypeAdapter[Any] = TypeAdapter(_portable(annotation))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            adapter.json_schema(mode="serialization")
            adapter.json_schema(mode="validation")
    except (PydanticSchemaGenerationError, PydanticUserError, TypeError, RecursionError):
        return None
    return adapter


def _portable(annotation: Any) -> Any:
    """`annotation` with each `typing.TypedDict` as typing_extensions' own: pydantic takes no other on Python 3.11."""
    if typing.is_typeddict(annotation):
        hints = typing.get_type_hints(annotation, include_extras=True)
        required = annotation.__required_keys__
        fields = {
            name: _portable(hint) if name in required else typing.NotRequired[_portable(_unmarked(hint))]
            for name, hint in hints.items()
        }
        make: Any = typing_extensions.TypedDict
        return make(annotation.__name__, fields)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return typing.Union[tuple(map(_portable, arguments))]  # noqa: UP007 - made from a tuple
    return origin[tuple(map(_portable, arguments))] if origin in (list, dict) else annotation


def _unmarked(hint: Any) -> Any:
    """What a field holds that need not be there."""
    return typing.get_args(hint)[0] if typing.get_origin(hint) is typing.NotRequired else hint


# --- docstrings

_READ_ONLY = re.compile(r"^\s*read_only\s*=\s*True\s*$\n?", re.MULTILINE)


def read_docstring(text: str | None) -> Documented:
    """What a docstring says, in Google's, NumPy's or Sphinx's style; empty where there is none."""
    kept, marks = _READ_ONLY.subn("", inspect.cleandoc(text or ""))
    read = docstring_parser.parse(kept)
    first = re.split(r"\n\s*\n", read.description or "", maxsplit=1)[0]
    arguments = {param.arg_name.lstrip("*"): " ".join((param.description or "").split()) for param in read.params}
    return Documented(" ".join(first.split()), arguments, marks > 0)
