"""Sources of tools: folders of protocols, OpenAPI documents, Python functions, HAR recordings, MCP servers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn, TypeAlias

from protocols.errors import SourceUnavailable, ToolError, docs_page
from protocols.invoke import Invoker
from protocols.jsontypes import JsonObject
from protocols.links import guess_links, guess_verifiers
from protocols.sources.har import RecordedCall
from protocols.sources.reading import Source, read_sources
from protocols.toolbox import Tool, Toolbox

ToolSource: TypeAlias = str | Callable[..., Any] | Iterable[Any]
"""A source as text, a function, or a list of such."""


def load_tools(*sources: ToolSource, invoker: Invoker | None = None) -> Toolbox:
    """The tools of all `sources`, ready to be called, with guessed links and verifying reads beside the declared ones.

    A source is a folder of protocol files or bare descriptions, one such file, an OpenAPI or Swagger document (file or
    http(s) address), a Python module (dotted name or `.py` file) or `module:Class`, a HAR recording, or an MCP server
    (`mcp:COMMAND ARGS`, `mcp:https://…`, `mcp:NAME`). A function with type hints and a docstring is a tool itself; a
    list holds any of these. `name=SRC` names a source, else its title or file does; no two may have one name. The same
    source twice counts once. `SRC@https://host` says where a document's service runs; without it, a document from an
    address may have only its own host called.

    MCP servers run until the `invoker` is closed.

    Raises:
        SourceUnavailable: a source cannot be read, or is none of these, or two have one name.
        InvalidProtocol: what it holds breaks its format, or two tools of one source have one name.
    """
    invoker = invoker or Invoker()
    read = read_sources(list(dict.fromkeys(_flat(sources))), invoker)
    named: dict[str, Source] = {}
    for one in read:
        if named.setdefault(one.name, one) is not one:
            raise SourceUnavailable(
                f"two sources are named {one.name!r}: {named[one.name].text} and {one.text}; name one of them yourself,"
                f" such as 'other={one.text.removeprefix(one.name + '=')}'."
            )
    return Toolbox([tool for source in read for tool in _tools(source, invoker, read)])


def load_source(source: str, *, invoker: Invoker | None = None, modules: Sequence[str] = ()) -> Source:
    """One source with its tools ready to be called and what it holds beside them, read as `load_tools` reads it.

    `modules` are Python modules that the user named too: descriptions in a folder may bind their functions.

    Raises:
        SourceUnavailable, InvalidProtocol: see `load_tools`.
    """
    invoker = invoker or Invoker()
    read = read_sources([*modules, source], invoker)
    return replace(read[-1], tools=Toolbox(_tools(read[-1], invoker, read)))


def _flat(sources: Iterable[Any]) -> Iterable[str | Callable[..., Any]]:
    for source in sources:
        if isinstance(source, str) or callable(source):
            yield source
        elif isinstance(source, Iterable):
            yield from _flat(source)
        else:
            raise SourceUnavailable(f"{source!r} is no tool source; give text, functions or lists of them.")


def _tools(source: Source, invoker: Invoker, sources: Sequence[Source]) -> list[Tool]:
    """The tools of one of `sources`; a file may bind the functions of every module that was named."""
    functions = source.functions or {name: one for other in sources for name, one in other.functions.items()}
    home = source.home.url if source.home else ""
    tools = []
    for protocol in guess_verifiers(guess_links(source.protocols)):
        call = invoker.bind(protocol, functions) if protocol.binding else partial(_refuse, protocol.name)
        tools.append(Tool(protocol=protocol, call=call, source=source.name, home=home))
    return tools


def _refuse(tool: str, _arguments: JsonObject) -> NoReturn:
    shown = docs_page("reference/protocols#bindings")
    problem = f"the tool {tool!r} has no binding, so it cannot be called; {shown} shows one."
    raise ToolError(None, problem, outcome="not_run")


__all__ = ["RecordedCall", "Source", "ToolSource", "load_source", "load_tools"]
