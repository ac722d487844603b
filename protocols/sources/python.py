"""Python functions, a module that the user named, or a class or object of it → protocols and callables."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import Any

from pydantic import ValidationError

from protocols.errors import SourceUnavailable, ToolError
from protocols.protocol import Annotations, PythonBinding, ToolProtocol
from protocols.sources.signature import Signature, read_signature

_MODULE_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


def read_module(name_or_path: str) -> tuple[list[ToolProtocol], dict[str, Callable[..., Any]]]:
    """The public functions that a module defines (or lists in `__all__`), and how to call them, by `module:function`.

    `module:Name` gives the public methods of that class, of which one instance is made without arguments and shared by
    all calls, or of that object, where the module has made one itself.

    The module is imported, so only one that the user named is given here. A function takes and gives JSON values:
    arguments become the types of its annotations (dates, enums, dataclasses, models), results become JSON. A function
    counts as writing unless its attribute `read_only` is true or a line of its docstring reads `read_only = True`;
    `destructive` and `idempotent` are attributes likewise.

    Raises:
        SourceUnavailable: there is no such module or name, it cannot be imported or made, or has no public function.
    """
    name, _, member = name_or_path.partition(":")
    module = _import(name)
    home = Path(name).stem if name.endswith(".py") else module.__name__
    found = list(_methods(_instance(module, member, name_or_path)) if member else _public(module))
    if not found:
        raise SourceUnavailable(
            f"{name_or_path!r} has no public {'methods' if member else 'functions'}; a tool is one of these."
            " Those of a class are named by 'MODULE:CLASS'."
        )
    return _read(found, f"{home}:{member}" if member else home)


def read_functions(given: Sequence[Callable[..., Any]]) -> tuple[list[ToolProtocol], dict[str, Callable[..., Any]]]:
    """The same of functions and methods of the caller's own.

    Raises:
        SourceUnavailable: one is no plain function with a name.
    """
    found = []
    for function in given:
        name = getattr(function, "__name__", "")
        if not isinstance(function, FunctionType | MethodType) or not name.isidentifier():
            raise SourceUnavailable(f"{function!r} is no plain function with a name; define one that calls it.")
        found.append((name, function))
    return _read(found, "")


def _read(
    found: Sequence[tuple[str, FunctionType | MethodType]], home: str
) -> tuple[list[ToolProtocol], dict[str, Callable[..., Any]]]:
    protocols, functions = [], {}
    for name, function in found:
        signature, module = read_signature(function), home or function.__module__
        said = signature.documented
        hints = Annotations(
            read_only=bool(getattr(function, "read_only", said.read_only)),
            destructive=getattr(function, "destructive", None),
            idempotent=getattr(function, "idempotent", None),
        )
        protocol = ToolProtocol(
            name=name,
            description=said.description,
            input_schema=signature.input_schema,
            output_schema=signature.output_schema,
            annotations=hints,
            binding=PythonBinding(module=module, function=name),
            collection=module,
        )
        protocols.append(protocol)
        functions[f"{module}:{name}"] = _callable(function, signature)
    return protocols, functions


def is_module(name: str) -> bool:
    """Whether `name` is a dotted name whose first part Python finds, the current folder included. Imports nothing."""
    if not _MODULE_NAME.fullmatch(name):
        return False
    return _is_installed(name) or PathFinder.find_spec(name.partition(".")[0], [str(Path.cwd())]) is not None


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name.partition(".")[0]) is not None
    except (ImportError, ValueError):
        return False


def _import(name_or_path: str) -> ModuleType:
    """The module. Its own folder is looked in last; what an installed one imports is not to come from the current."""
    path, folders = Path(name_or_path).expanduser(), list[str]()
    if path.suffix == ".py":
        folders = [str(path.resolve().parent)]
    elif not _is_installed(name_or_path):
        folders = [str(Path.cwd())]
    sys.path += folders
    try:
        return _load_file(path) if path.suffix == ".py" else importlib.import_module(name_or_path)
    except (Exception, SystemExit) as error:  # importing runs the user's code, which may fail in any way
        problem = f"{type(error).__name__}: {error}"
        raise SourceUnavailable(f"the module {name_or_path!r} cannot be imported: {problem}.") from error
    finally:
        for folder in folders:
            sys.path.remove(folder)


def _load_file(path: Path) -> ModuleType:
    # A name of its own: a user's `json.py` must not take the place of the standard library's.
    name = f"atc_source_{zlib.crc32(str(path.resolve()).encode()):08x}_{path.stem}"
    spec: Any = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and annotations look their module up there
    spec.loader.exec_module(module)
    return module


def _public(module: ModuleType) -> Iterator[tuple[str, FunctionType]]:
    declared = getattr(module, "__all__", None)
    for name, value in vars(module).items():
        own = name[0] != "_" and getattr(value, "__module__", "") == module.__name__
        if (own if declared is None else name in declared) and inspect.isfunction(value):
            yield name, value


def _instance(module: ModuleType, member: str, where: str) -> object:
    """The object of this name, or an instance of the class of this name."""
    found = None if member.startswith("_") else getattr(module, member, None)
    if found is None:
        raise SourceUnavailable(f"{where!r}: the module has no public {member!r}.")
    try:
        return found() if isinstance(found, type) else found
    except (Exception, SystemExit) as error:  # making one runs the user's code, which may fail in any way
        raise SourceUnavailable(
            f"{where!r}: an instance cannot be made without arguments: {type(error).__name__}: {error}; make one in a "
            "module of your own and name that: 'module:instance'."
        ) from error


def _methods(instance: object) -> Iterator[tuple[str, FunctionType | MethodType]]:
    """The public methods that the object's class, or one above it, defines in Python, in the order of definition."""
    defined: dict[str, Any] = {}
    for kind in reversed(type(instance).__mro__):
        defined |= vars(kind)
    for name, kind in defined.items():
        # Looked at without asking for it, since a property would run.
        if name[0] != "_" and isinstance(kind, FunctionType | staticmethod | classmethod):
            value = getattr(instance, name)
            if isinstance(value, FunctionType | MethodType):
                yield name, value


def _callable(function: FunctionType | MethodType, signature: Signature) -> Callable[..., Any]:
    """`function` as one that takes JSON values."""

    @functools.wraps(function)
    def call(**arguments: Any) -> Any:
        for name in arguments.keys() & signature.adapters.keys():
            try:
                arguments[name] = signature.adapters[name].validate_python(arguments[name])
            except ValidationError as error:
                problem = f"{function.__name__}: argument {name!r}: {error.errors()[0]['msg']}"
                raise ToolError(None, problem, outcome="not_run") from error
        return function(**arguments)

    return call
