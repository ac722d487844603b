"""Reads Python functions, or the functions of a module that the user named, as tools.

Annotations become JSON Schema and docstrings become descriptions. Arguments are converted from JSON
to the annotated types.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import inspect
import json
import sys
import types
import typing
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import Any

import typing_extensions
from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
from pydantic_core import to_jsonable_python

from protocols.errors import SourceUnavailable, ToolError
from protocols.protocol import Annotations, Evidence, PythonBinding, ToolProtocol
from protocols.schema import GUESSED_TYPE
from protocols.sources.docstrings import FunctionText, documented_type, read_docstring
from protocols.worlds import Effect

_Function = FunctionType | MethodType
_FUNCTIONS: Any = (FunctionType, MethodType, type(functools.cache(len)))


def read_module(name_or_path: str) -> tuple[list[ToolProtocol], dict[str, Callable[..., Any]]]:
    """Return the tools of a module: their descriptions, and functions keyed by `module:function`.

    The tools are the functions that `__all__` lists, or else those that the module defines. The
    module is imported, so it must be one that the user named. Arguments are converted from JSON to
    the annotated types (dates, enums, dataclasses, models). A function counts as a write unless it
    has the attribute `read_only`, `pure` or `session`, or a docstring line such as
    `read_only = True`. It may also have the attributes `destructive`, `idempotent` and `failed`.

    Raises:
        SourceUnavailable: the module does not exist, cannot be imported, or has no public function.
    """
    module = _import(name_or_path)
    if not (found := list(_public_functions(module))):
        raise SourceUnavailable(
            f"{name_or_path!r} has no public functions; a tool is one of these."
        )
    return _read(
        found, Path(name_or_path).stem if name_or_path.endswith(".py") else module.__name__
    )


def read_functions(
    given: Sequence[Callable[..., Any]],
) -> tuple[list[ToolProtocol], dict[str, Callable[..., Any]]]:
    """Return functions and methods that the caller passes as tools.

    The results are those of `read_module`: descriptions, and functions keyed by `module:function`.

    Raises:
        SourceUnavailable: one of them is not a plain function with a name.
    """
    found = []
    for function in given:
        name = getattr(function, "__name__", "")
        if not isinstance(function, _FUNCTIONS) or not name.isidentifier():
            raise SourceUnavailable(
                f"{function!r} is no plain function with a name; define one that calls it."
            )
        found.append((name, function))
    return _read(found, "")


def is_module(name: str) -> bool:
    """Return True if Python can find the top-level package or module of a dotted name.

    It is searched for on Python's path and in the current working folder. Nothing is imported.
    """
    if not all(map(str.isidentifier, name.split("."))):
        return False
    return (
        _is_installed(name)
        or PathFinder.find_spec(name.partition(".")[0], [str(Path.cwd())]) is not None
    )


def _is_installed(name: str) -> bool:
    """Return True if Python finds the top-level package or module of a dotted name on its path."""
    with contextlib.suppress(ImportError, ValueError):
        return importlib.util.find_spec(name.partition(".")[0]) is not None
    return False


def _import(name_or_path: str) -> ModuleType:
    """Import a module by its path or its name.

    During the import, the folder of the module is the last one on `sys.path`, so that files in it
    cannot replace installed modules.
    """
    path = Path(name_or_path).expanduser()
    folders = list[str]()
    if path.suffix == ".py":
        if not path.is_file():
            raise SourceUnavailable(
                f"there is no file {name_or_path!r}; check the path. A relative one starts at"
                f" {str(Path.cwd())!r}."
            )
        folders = [str(path.resolve().parent)]
    elif not _is_installed(name_or_path):
        folders = [str(Path.cwd())]
    sys.path += folders
    try:
        if path.suffix != ".py":
            return importlib.import_module(name_or_path)
        # A name of its own: a user's `json.py` must not take the place of the standard library's.
        name = f"atc_source_{zlib.crc32(str(path.resolve()).encode()):08x}_{path.stem}"
        spec: Any = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # dataclasses and annotations look their module up there
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # the user's code may raise anything
        problem = f"{type(error).__name__}: {error}"
        raise SourceUnavailable(
            f"the module {name_or_path!r} cannot be imported: {problem}."
        ) from error
    finally:
        for folder in folders:
            sys.path.remove(folder)
    return module


def _public_functions(module: ModuleType) -> Iterator[tuple[str, _Function]]:
    """Yield (name, function) for each public function of a module."""
    declared = getattr(module, "__all__", None)
    for name, value in vars(module).items():
        own = name[0] != "_" and getattr(value, "__module__", "") == module.__name__
        if (own if declared is None else name in declared) and isinstance(value, _FUNCTIONS):
            yield name, value


# --- a function as a tool


def _read(
    found: Sequence[tuple[str, _Function]], home: str
) -> tuple[list[ToolProtocol], dict[str, Callable[..., Any]]]:
    """Return the tools for (name, function) pairs: descriptions, and functions keyed by name.

    The names are `module:function`. `home` is the name of the module that has all these functions.
    If it is "", the module of each function is read from its `__module__`.
    """
    protocols = []
    functions = {}
    for name, function in found:
        module = home or function.__module__
        hints = _hints(function)
        text = read_docstring(inspect.getdoc(function))
        only_reads = find_effect(function) is not None or "read_only" in text.marks
        unnamed = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        named = {
            key: one
            for key, one in inspect.signature(function).parameters.items()
            if one.kind not in unnamed
        }
        adapters = {
            key: adapter for key in named if (adapter := _adapter(hints.get(key, Any))) is not None
        }
        result = _adapter(hints.get("return", Any))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about defaults that are not JSON, which are left out
            output = result.json_schema(mode="serialization") if result is not None else None
            input_schema = _input_schema(named.values(), adapters, text)
        guess = documented_type(text.returns)
        is_guess = output is None and guess is not None
        protocol = ToolProtocol(
            name=name,
            description=_description(text, inspect.signature(function).parameters),
            input_schema=input_schema,
            output_schema=guess if output is None else output,
            annotations=Annotations(
                read_only=bool(getattr(function, "read_only", only_reads)),
                destructive=getattr(function, "destructive", None),
                idempotent=getattr(function, "idempotent", None),
            ),
            binding=PythonBinding(module=module, function=name),
            collection=module,
            evidence=Evidence(level="guessed") if is_guess else Evidence(),
        )
        protocols.append(protocol)
        functions[f"{module}:{name}"] = _wrap_function(function, adapters)
    return protocols, functions


def _description(text: FunctionText, parameters: Mapping[str, inspect.Parameter]) -> str:
    """Return the description of a function for its tool.

    It includes the docstring's texts about arguments that the function does not have. The name of
    such an argument is often misspelled, or is a key of a dict that another argument takes.
    """
    unknown = [
        f"{name}: {about}"
        for name, about in text.arguments.items()
        if name not in parameters and about
    ]
    return " ".join(filter(None, [text.description, *unknown]))


def _input_schema(
    parameters: Iterable[inspect.Parameter],
    adapters: dict[str, TypeAdapter[Any]],
    text: FunctionText,
) -> dict[str, Any]:
    """Return the input schema of a function. `text` is what its docstring says.

    A type that only the docstring names is a guess: prompts show it, no argument is held to it.
    """
    schemas, shared = TypeAdapter.json_schemas(
        [(name, "validation", one) for name, one in adapters.items()]
    )
    properties = dict[str, Any]()
    required = list[str]()
    for parameter in parameters:
        properties[parameter.name] = schema = dict(schemas.get((parameter.name, "validation"), {}))
        name = parameter.name
        _add_documentation(schema, text.arguments.get(name, ""), text.types.get(name, ""))
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        else:
            with contextlib.suppress(ValueError):  # the default is not JSON
                default = to_jsonable_python(parameter.default)
                json.dumps(default, allow_nan=False)
                schema["default"] = default
    more = {"required": required, "$defs": shared.get("$defs")}
    return {"type": "object", "properties": properties} | {
        key: part for key, part in more.items() if part
    }


def _add_documentation(schema: dict[str, Any], text: str, type_text: str) -> None:
    """Add what a docstring says of an argument, and of its type, to the argument's schema."""
    guess = documented_type(type_text)
    is_untyped = not schema
    if guess is not None and is_untyped:
        schema[GUESSED_TYPE] = guess
    elif type_text and (is_untyped or (guess and "enum" in guess and "enum" not in schema)):
        text = f"{text} ({type_text})".strip()
    known = schema.get("description", "")
    if text and text not in known:
        schema["description"] = f"{text} {known}".strip()


def find_effect(function: Callable[..., Any]) -> Effect | None:
    """Return the effect that a function is marked with, by an attribute or in its docstring."""
    marks = read_docstring(inspect.getdoc(function)).marks
    if getattr(function, "session", "session" in marks):
        return "session"
    return "pure" if getattr(function, "pure", "pure" in marks) else None


def _wrap_function(
    function: _Function, adapters: dict[str, TypeAdapter[Any]]
) -> Callable[..., Any]:
    """Return a function that converts its arguments from JSON and then calls `function`.

    `adapters` are the converters, keyed by argument.
    """
    names = [*inspect.signature(function).parameters]

    @functools.wraps(function)
    def call(*values: Any, **arguments: Any) -> Any:
        arguments |= zip(names, values, strict=False)
        for name in arguments.keys() & adapters.keys():
            try:
                arguments[name] = adapters[name].validate_python(arguments[name])
            except ValidationError as error:
                problem = f"{function.__name__}: argument {name!r}: {error.errors()[0]['msg']}"
                raise ToolError(None, problem, outcome="not_run") from error
        return function(*[arguments.pop(name) for name in names[: len(values)]], **arguments)

    return call


def _hints(function: _Function) -> dict[str, Any]:
    """Return the type hints of a function, without those that cannot be evaluated.

    Each is evaluated alone, because one may need a name that only type checkers import.
    """
    origin: Any = inspect.unwrap(function)
    found: dict[str, Any] = {}
    for name, annotation in getattr(origin, "__annotations__", {}).items():
        one = types.SimpleNamespace(__annotations__={name: annotation})
        with contextlib.suppress(NameError, TypeError, AttributeError, SyntaxError):
            found |= typing.get_type_hints(one, globalns=origin.__globals__, include_extras=True)
    return found


def _adapter(annotation: Any) -> TypeAdapter[Any] | None:
    """Return the object that converts JSON to the type of an annotation (pydantic's `TypeAdapter`).

    Return None if the annotation says nothing or pydantic does not support it.
    """
    if annotation is Any:
        return None
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(_portable_annotation(annotation))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            adapter.json_schema(mode="serialization")
            adapter.json_schema(mode="validation")
    except (PydanticSchemaGenerationError, PydanticUserError, TypeError, RecursionError):
        return None
    return adapter


def _portable_annotation(annotation: Any) -> Any:
    """Return `annotation` with each `typing.TypedDict` replaced by one of typing_extensions.

    On Python 3.11, pydantic accepts only those.
    """
    if typing.is_typeddict(annotation):
        fields: dict[str, Any] = {}
        for name, hint in typing.get_type_hints(annotation, include_extras=True).items():
            marked = typing.get_origin(hint) in (typing.Required, typing.NotRequired)
            usual = typing.Required if name in annotation.__required_keys__ else typing.NotRequired
            mark, inner = (
                (typing.get_origin(hint), typing.get_args(hint)[0]) if marked else (usual, hint)
            )
            fields[name] = mark[_portable_annotation(inner)]
        make: Any = typing_extensions.TypedDict
        return make(annotation.__name__, fields)
    origin = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        members = tuple(map(_portable_annotation, arguments))
        return typing.Union[members]  # noqa: UP007 - made from a tuple
    made: Any = origin  # type checkers do not accept a subscript of a class here
    return (
        made[tuple(map(_portable_annotation, arguments))]
        if arguments and isinstance(origin, type)
        else annotation
    )
