"""Factories: functions of the user that make fresh tools, each time with a state of their own."""

from __future__ import annotations

import collections.abc
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from protocols.errors import AtcError, SourceUnavailable
from protocols.sources.kinds import SourceKinds
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from protocols.worlds import Send

Factory: TypeAlias = Callable[[], Any]
"""A function without required arguments that returns tools: a toolbox, or sources of tools."""


def is_factory(source: object) -> bool:
    """Return True if the only source in a call of `load_tools` makes tools, and is no tool itself.

    A function without required arguments makes tools if its return annotation says so. It also
    makes tools if it has neither a return annotation nor a docstring, because it then describes no
    tool.
    """
    if not callable(source) or _needs_argument(source):
        return False
    annotation = _return_annotation(source)
    if annotation is inspect.Signature.empty:
        return not (inspect.isroutine(source) and inspect.getdoc(source))
    parts = (annotation, *typing.get_args(annotation))
    return any(_is_tool_type(part) for part in parts)


def _needs_argument(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return any(one.default is one.empty and one.kind not in optional for one in parameters)


def _return_annotation(function: Callable[..., Any]) -> Any:
    """Return the annotation of the return value; `Signature.empty` without one."""
    try:
        return inspect.signature(function, eval_str=True).return_annotation
    except Exception:  # noqa: BLE001 - an annotation may need a name that only type checkers import
        return inspect.signature(function).return_annotation


def _is_tool_type(annotation: Any) -> bool:
    if isinstance(annotation, str):  # it could not be evaluated
        return any(word in annotation for word in ("Callable", "Toolbox"))
    origin = typing.get_origin(annotation) or annotation
    return origin in (Toolbox, Tool, collections.abc.Callable)


def fresh_tools(
    factory: Factory, load: Callable[[Iterable[Any]], list[Tool]], kinds: SourceKinds
) -> list[Tool]:
    """Return the tools of a factory. Each tool can make all of them again, with a fresh state.

    `load` reads the sources that the factory returns.

    Raises:
        SourceUnavailable: the factory fails, or returns something else than tools.
    """

    def make() -> list[Tool]:
        try:
            made = factory()
        except AtcError:
            raise
        except Exception as error:
            problem = f"{type(error).__name__}: {error}".rstrip(": ")
            raise SourceUnavailable(f"the factory {_name(factory)} failed: {problem}.") from error
        if isinstance(made, Toolbox):
            return _mark_tools(made, kinds)
        if isinstance(made, str) or not (callable(made) or isinstance(made, Iterable)):
            raise SourceUnavailable(
                f"{_name(factory)} returned no tools but {type(made).__name__}. A factory returns"
                " functions or a toolbox. If it is a tool itself, give it a docstring and a return"
                " annotation."
            )
        return load([made])

    first = make()

    def fresh() -> Mapping[str, Send]:
        tools = {tool.qualified: tool for tool in make()}
        for tool in first:
            again = tools.get(tool.qualified)
            if again is None or again.identity != tool.identity:
                raise SourceUnavailable(
                    f"{_name(factory)} made no {tool.qualified!r} this time, or one that calls"
                    " something else; let it make the same tools each time."
                )
        return {name: replace(tool, world=None).send_for_value for name, tool in tools.items()}

    return [replace(tool, fresh=fresh, world=None) for tool in first]


def _mark_tools(toolbox: Toolbox, kinds: SourceKinds) -> list[Tool]:
    """Return the tools of a toolbox, marked with what the user said about their sources."""
    sources = {tool.source for tool in toolbox.values()}
    given = replace(kinds, is_alone=kinds.is_alone and len(sources) == 1)
    return [given.mark(tool) for tool in toolbox.values()]


def _name(factory: Factory) -> str:
    return repr(getattr(factory, "__name__", type(factory).__name__))
