"""A function's annotations and docstring as JSON Schema and text, and JSON arguments as what annotations ask for."""

from __future__ import annotations

import contextlib
import inspect
import json
import re
import types as python_types
import typing
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import typing_extensions
from pydantic import TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
from pydantic_core import to_jsonable_python

_PLAIN = (str, int, float, bool, list, dict, type(None))


@dataclass(frozen=True)
class Signature:
    """The JSON side of a function: its arguments' object schema, its result's, and how arguments are read."""

    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    positional: tuple[str, ...]
    """Arguments that may not be given by name, in order."""
    adapters: Mapping[str, TypeAdapter[Any]]

    def read(self, name: str, value: Any) -> Any:
        """The Python value that argument `name` wants for a JSON value; `value` itself where JSON is what it wants."""
        adapter = self.adapters.get(name)
        return value if adapter is None else adapter.validate_python(value)


def read_signature(function: Callable[..., Any]) -> Signature:
    """What a function's annotations say; an annotation that has no JSON Schema says nothing."""
    hints = _hints(function)
    unnamed = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    named = {n: p for n, p in inspect.signature(function).parameters.items() if p.kind not in unnamed}
    adapters = {name: adapter for name in named if (adapter := _adapter(hints.get(name, Any))) is not None}
    result = _adapter(hints["return"]) if hints.get("return", Any) is not Any else None
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
    return Signature(
        input_schema=input_schema,
        output_schema=output,
        positional=tuple(n for n, p in named.items() if p.kind is inspect.Parameter.POSITIONAL_ONLY),
        adapters={name: adapter for name, adapter in adapters.items() if not _is_plain(hints.get(name, Any))},
    )


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations that can be evaluated, each alone: one may need a name that only type checkers import."""
    origin: Any = inspect.unwrap(function)
    found: dict[str, Any] = {}
    for name, annotation in getattr(origin, "__annotations__", {}).items():
        one = python_types.SimpleNamespace(__annotations__={name: annotation})
        with contextlib.suppress(NameError, TypeError, AttributeError, SyntaxError):
            found |= typing.get_type_hints(one, globalns=origin.__globals__, include_extras=True)
    return found


def _adapter(annotation: Any) -> TypeAdapter[Any] | None:
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
    """`annotation` with `typing.TypedDict`s as typing_extensions' own, the only ones that pydantic takes on 3.11."""
    if typing.is_typeddict(annotation):
        fields: dict[str, Any] = {}
        for name, hint in typing.get_type_hints(annotation, include_extras=True).items():
            # Where annotations are strings, `__required_keys__` does not know of NotRequired; the hints do.
            mark: Any = typing.get_origin(hint)
            if mark in (typing.Required, typing.NotRequired):
                hint = typing.get_args(hint)[0]
            else:
                mark = typing.Required if name in annotation.__required_keys__ else typing.NotRequired
            fields[name] = mark[_portable(hint)]
        make: Any = typing_extensions.TypedDict
        return make(annotation.__name__, fields)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if not arguments or origin in (typing.Literal, typing.Annotated):
        return annotation
    if origin in (typing.Union, python_types.UnionType):
        return typing.Union[tuple(_portable(a) for a in arguments)]  # noqa: UP007 -- made from a tuple
    generic: Any = origin
    return generic[tuple(_portable(a) for a in arguments)] if isinstance(origin, type) else annotation


def _is_plain(annotation: Any) -> bool:
    """Whether JSON values already are what is annotated, so that nothing needs to be read."""
    if annotation is Any or annotation in _PLAIN or typing.is_typeddict(annotation):
        return True
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return True
    return origin in (list, dict, typing.Union, python_types.UnionType) and all(map(_is_plain, arguments))


# --- docstrings

_SECTION = re.compile(
    r"(Args|Arguments|Parameters|Params|Keyword Args|Other Parameters|Returns?|Yields?|Raises|Examples?|Notes?"
    r"|Attributes|See Also|Warnings?|Warns|References|Todo):?\s*$",
    re.IGNORECASE,
)
_ARGUMENTS = ("args", "arguments", "parameters", "params", "keyword args", "other parameters")
_SPHINX = re.compile(r"^:(?:param|parameter|arg|argument)(?:\s+[^:\s][^:]{0,100}?)?\s+\*{0,2}(\w+)\s*:\s*(.*)$")
_NAMED = re.compile(r"^\*{0,2}(\w+(?:\s*,\s*\*{0,2}\w+)*)\s*+(?:\([^)]*\)\s*+)?(?::(?:\s+(.*))?)?$")
_READ_ONLY = re.compile(r"^read[-_ ]only(?:\s*[:=]\s*(?:true|yes))?\.?$", re.IGNORECASE)


class Documented(NamedTuple):
    """The description (first paragraph, on one line), each argument's text, and whether it says `read_only = True`."""

    description: str
    arguments: dict[str, str]
    read_only: bool


def read_docstring(text: str | None) -> Documented:
    """What a docstring says, in Google's, NumPy's or Sphinx's style; empty where there is none."""
    lines = inspect.cleandoc(text or "").splitlines()
    read_only = any(_READ_ONLY.match(line.strip()) for line in lines)
    lines = [line for line in lines if not _READ_ONLY.match(line.strip())]
    first: list[str] = []
    for line in lines:
        if (not line.strip() and first) or _SECTION.match(line) or line.startswith(":"):
            break
        first.append(line.strip())
    return Documented(" ".join(filter(None, first)), _arguments(lines), read_only)


def _arguments(lines: list[str]) -> dict[str, str]:
    """Google's `name (type): text`, indented under `Args:`, NumPy's `name : type` over indented text, Sphinx's."""
    found: dict[str, str] = {}
    names: list[str] = []  # those that the next line goes on about
    inside = numpy = False
    depth = -1
    for line in lines:
        text, indent = line.strip(), len(line) - len(line.lstrip())
        if match := _SPHINX.match(text):
            names, found[match[1]] = [match[1]], match[2].strip()
        elif text.startswith("---"):
            numpy = True
        elif indent == 0 and _SECTION.match(line):
            inside, numpy, names, depth = text.rstrip(": ").lower() in _ARGUMENTS, False, [], -1
        elif not text or (indent == 0 and not (inside and numpy)):
            inside, names = inside and not text, names if inside and not text else []
        else:
            depth = indent if depth < 0 else depth
            match = _NAMED.match(text) if inside and indent == depth else None
            if match and (numpy or ":" in text):
                names = [name.strip(" *") for name in match[1].split(",")]
                found |= dict.fromkeys(names, "" if numpy else (match[2] or "").strip())
            else:
                found |= {name: f"{found[name]} {text}".strip() for name in names}
    return found
