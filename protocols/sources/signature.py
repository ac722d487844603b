"""A function's annotations as JSON Schema, and JSON arguments as what the annotations ask for."""

from __future__ import annotations

import contextlib
import inspect
import json
import types as python_types
import typing
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import TypeAdapter

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


def read_signature(function: FunctionType | MethodType) -> Signature:
    """What a function's annotations say; an annotation that has no JSON Schema says nothing."""
    hints = _hints(function)
    unnamed = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    named = {n: p for n, p in inspect.signature(function).parameters.items() if p.kind not in unnamed}
    adapters = {name: adapter for name in named if (adapter := _adapter(hints.get(name, Any))) is not None}
    result = _adapter(hints["return"]) if hints.get("return", Any) is not Any else None
    schemas, definitions = _schemas(adapters)
    properties = {name: _with_default(schemas.get(name, {}), parameter) for name, parameter in named.items()}
    required = [name for name, p in named.items() if p.default is inspect.Parameter.empty]
    input_schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        input_schema["required"] = required
    return Signature(
        input_schema=input_schema | ({"$defs": definitions} if definitions else {}),
        output_schema=_schema(result) if result is not None else None,
        positional=tuple(n for n, p in named.items() if p.kind is inspect.Parameter.POSITIONAL_ONLY),
        adapters={name: adapter for name, adapter in adapters.items() if not _is_plain(hints.get(name, Any))},
    )


def _hints(function: FunctionType | MethodType) -> dict[str, Any]:
    """The annotations that can be evaluated, each alone: one may need a name that only type checkers import."""
    origin = inspect.unwrap(function)
    found: dict[str, Any] = {}
    for name, annotation in origin.__annotations__.items():
        one = python_types.SimpleNamespace(__annotations__={name: annotation})
        with contextlib.suppress(NameError, TypeError, AttributeError, SyntaxError):
            found |= typing.get_type_hints(one, globalns=origin.__globals__, include_extras=True)
    return found


def _adapter(annotation: Any) -> TypeAdapter[Any] | None:
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

    if annotation is Any:
        return None
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(_portable(annotation))
        _schema(adapter)
        adapter.json_schema(mode="validation")
    except (PydanticSchemaGenerationError, PydanticUserError, TypeError, RecursionError):
        return None
    return adapter


def _portable(annotation: Any) -> Any:
    """`annotation` with `typing.TypedDict`s as typing_extensions' own, the only ones that pydantic takes on 3.11."""
    if typing.is_typeddict(annotation):
        from typing import NotRequired, Required

        from typing_extensions import TypedDict

        hints = typing.get_type_hints(annotation, include_extras=True)
        # Where annotations are strings, `__required_keys__` does not know of NotRequired; the hints do.
        fields: dict[str, Any] = {
            name: hint if _marked(hint) else (Required if name in annotation.__required_keys__ else NotRequired)[hint]
            for name, hint in hints.items()
        }
        for name, hint in fields.items():
            mark: Any = typing.get_origin(hint)
            fields[name] = mark[_portable(typing.get_args(hint)[0])]
        make: Any = TypedDict
        return make(annotation.__name__, fields)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if not arguments or origin in (typing.Literal, typing.Annotated):
        return annotation
    if origin in (typing.Union, python_types.UnionType):
        return typing.Union[tuple(_portable(a) for a in arguments)]  # noqa: UP007 -- made from a tuple
    generic: Any = origin
    return generic[tuple(_portable(a) for a in arguments)] if isinstance(origin, type) else annotation


def _marked(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Required, typing.NotRequired)


def _is_plain(annotation: Any) -> bool:
    """Whether JSON values already are what is annotated, so that nothing needs to be read."""
    if annotation is Any or annotation in _PLAIN or typing.is_typeddict(annotation):
        return True
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return True
    return origin in (list, dict, typing.Union, python_types.UnionType) and all(_is_plain(a) for a in arguments)


def _schema(adapter: TypeAdapter[Any]) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a default that has no JSON form is left out, with a warning
        return adapter.json_schema(mode="serialization")


def _schemas(adapters: Mapping[str, TypeAdapter[Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Each argument's schema, and the definitions that they share."""
    from pydantic import TypeAdapter

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_key, shared = TypeAdapter.json_schemas([(name, "validation", a) for name, a in adapters.items()])
    return {str(name): schema for (name, _), schema in by_key.items()}, shared.get("$defs", {})


def _with_default(schema: Mapping[str, Any], parameter: inspect.Parameter) -> dict[str, Any]:
    if parameter.default is inspect.Parameter.empty:
        return dict(schema)
    from pydantic_core import to_jsonable_python

    try:
        default = to_jsonable_python(parameter.default)
        json.dumps(default, allow_nan=False)
    except ValueError:  # it has no JSON form, as an object of one's own, or infinity
        return dict(schema)
    return {**schema, "default": default}
