"""Sources of tools: folders of protocols, OpenAPI and Swagger documents, Python modules."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, Protocol
from urllib.parse import urlsplit

from protocols.alias import identifier
from protocols.errors import SourceUnavailable, ToolError
from protocols.jsontypes import Json, JsonObject
from protocols.links import guess_links
from protocols.protocol import McpBinding, ToolProtocol
from protocols.toolbox import Call, Tool, Toolbox
from protocols.verify import guess_verifiers

_NAMED = re.compile(r"([A-Za-z_][\w.-]*)=(.+)", re.DOTALL)
_BASED = re.compile(r"(.+)@(https?://[^@]+)", re.DOTALL | re.IGNORECASE)
_GENERIC_TITLES = {
    "",
    "api",
    "fastapi",
    "openapi",
    "swagger",
    "rest_api",
    "untitled",
    "swagger_api",
    "openapi_definition",
}


class Binder(Protocol):
    """What makes protocols callable; `protocols.invoke.Invoker` is one."""

    def bind(self, protocol: ToolProtocol, functions: Mapping[str, Callable[..., Any]] = ...) -> Call:
        """The call of one tool; `functions` are those of the module that the user named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    name: str
    protocols: list[ToolProtocol]
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)


def load_tools(*sources: str, invoker: Binder | None = None, names: Sequence[str] | None = None) -> Toolbox:
    """The tools of all `sources`, ready to be called, with guessed links and verifying reads beside the declared ones.

    A source is a folder of protocol files, one such file, an OpenAPI or Swagger document (file or http(s) address), or
    a Python module (dotted name or `.py` file). `name=SRC` names it, else its title or file does; `names` names them
    all, in order. `SRC@https://host` says where a document's service runs. The same source given twice counts once.

    Raises:
        SourceUnavailable: a source cannot be read, or is none of these.
        InvalidProtocol: what it holds breaks its format, or two tools of one source have one name.
    """
    if names is not None and len(names) != len(sources):
        raise ValueError(f"{len(sources)} sources need as many names, got {len(names)}")
    given = [f"{name}={source}" for name, source in zip(names, sources, strict=True)] if names else sources
    if invoker is None:
        from protocols.invoke import Invoker

        invoker = Invoker()
    tools: list[Tool] = []
    taken: set[str] = set()
    for text in dict.fromkeys(given):
        source = _read(text)
        name = _free(source.name, taken)
        tools += [
            Tool(protocol=protocol, call=_call(protocol, invoker, source.functions), source=name)
            for protocol in guess_verifiers(guess_links(source.protocols))
        ]
    return Toolbox(tools)


def _call(protocol: ToolProtocol, invoker: Binder, functions: Mapping[str, Callable[..., Any]]) -> Call:
    match protocol.binding:
        case None:
            problem = "has no binding, so it cannot be called; add one to its file (docs/protocols.md)."
        case McpBinding(server=server):
            problem = f"belongs to the MCP server {server!r}, which cannot be called; give it an http binding."
        case _:
            return invoker.bind(protocol, functions)
    return partial(_refuse, f"the tool {protocol.name!r} {problem}")


def _refuse(problem: str, _arguments: JsonObject) -> NoReturn:
    raise ToolError(None, problem, outcome="not_run")


def _read(text: str) -> _Source:
    """One source; its kind is decided by what is there."""
    name, location = "", text
    if not Path(text).exists() and (match := _NAMED.fullmatch(text)):
        name, location = match[1], match[2]
    location, base_url = _split_base(location)
    path = Path(location).expanduser()
    if not location.strip():
        raise SourceUnavailable(_unknown(location))
    is_package = location.isidentifier() and (path / "__init__.py").is_file()
    if path.is_dir() and not is_package:
        from protocols.sources.folder import read_folder

        return _Source(name=name or path.resolve().name, protocols=read_folder(path))
    if path.suffix == ".py" or (_is_module(location) and not path.is_file()):
        from protocols.sources.python import read_module

        protocols, functions = read_module(location)
        return _Source(
            name=name or protocols[0].collection.rsplit(".", 1)[-1], protocols=protocols, functions=functions
        )
    if _is_url(location) or path.exists() or path.suffix.lower() in (".json", ".yaml", ".yml"):
        return _read_document(name, location, base_url)
    raise SourceUnavailable(_unknown(location))


def _unknown(location: str) -> str:
    return (
        f"{location!r} is no tool source: there is no such folder, file or Python module; give a folder of protocols, "
        "an OpenAPI document (file or http address) or a module."
    )


def _read_document(name: str, location: str, base_url: str | None) -> _Source:
    from protocols.sources.fetch import fetch_document
    from protocols.sources.folder import read_protocols
    from protocols.sources.openapi import describe, read_openapi

    document = fetch_document(location)
    if isinstance(document, Mapping) and document.keys() & {"openapi", "swagger", "paths"}:
        protocols = read_openapi(document, where=location, base_url=base_url)
        return _Source(name=name or _default_name(protocols[0].collection, location), protocols=protocols)
    if _looks_like_protocols(document):
        return _Source(name=name or _default_name("", location), protocols=read_protocols(document, where=location))
    raise SourceUnavailable(
        f"{location} is neither an OpenAPI document nor a protocol: it holds {describe(document)}; "
        "docs/protocols.md shows a protocol."
    )


def _looks_like_protocols(document: Json) -> bool:
    first = document[0] if isinstance(document, list) and document else document
    return isinstance(first, Mapping) and "name" in first


def _default_name(title: str, location: str) -> str:
    name = identifier(title.strip()).lower()
    if title and name not in _GENERIC_TITLES:
        return name
    return identifier((urlsplit(location).hostname or location) if _is_url(location) else Path(location).stem)


def _split_base(location: str) -> tuple[str, str | None]:
    if not Path(location).exists() and (match := _BASED.fullmatch(location)):
        return match[1], match[2]
    return location, None


def _free(name: str, taken: set[str]) -> str:
    chosen, number = name, 2
    while chosen in taken:
        chosen, number = f"{name}_{number}", number + 1
    taken.add(chosen)
    return chosen


def _is_url(text: str) -> bool:
    from protocols.sources.server import is_url

    return is_url(text)


def _is_module(text: str) -> bool:
    from protocols.sources.python import is_module

    return is_module(text)


__all__ = ["Binder", "load_tools"]
